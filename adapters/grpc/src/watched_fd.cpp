// SPDX-License-Identifier: Apache-2.0

// Watches a descriptor of gRPC through a poll_handle.
#include "watched_fd.hpp"

#include "bag.hpp"
#include "domain.hpp"

#include <eddy/base/assert.hpp>

#include <sys/socket.h>

#include <utility>

namespace eddy::grpc_adapter {

watched_fd::wait::wait(watched_fd& f) noexcept
    : closure([](closure& self, std::error_code error) {
          auto& w = static_cast<wait&>(self);
          hand_over(std::exchange(w.call, nullptr), error ? w.owner.why_ : absl::OkStatus());
      }),
      owner(f) {}

watched_fd::end::end(watched_fd& f) noexcept
    : closure([](closure& self, std::error_code) {
          auto& e = static_cast<end&>(self);
          hand_over(e.on_done);
          delete &e.owner;
      }),
      owner(f) {}

watched_fd::watched_fd(int number, const char* name)
    : number_(number),
      handle_(domain(), unique_fd(number)),
      waits_{wait(*this), wait(*this), wait(*this)},
      end_(*this) {
    grpc_iomgr_register_object(&object_, name);
}

watched_fd::~watched_fd() { grpc_iomgr_unregister_object(&object_); }

void watched_fd::notify_on(poll_event_kind kind, grpc_closure* call) {
    wait& w = waits_[static_cast<std::size_t>(kind)];
    EDDY_ASSERT(w.call == nullptr, "gRPC waits twice for one event");
    w.call = call;
    if (const std::error_code error = handle_.notify_on(kind, w)) {
        hand_over(std::exchange(w.call, nullptr), to_status(error, "notify_on"));
    }
}

bool watched_fd::decide_end(absl::Status why) {
    if (end_decided_.exchange(true, std::memory_order_relaxed)) {
        return false;
    }
    // Closures that get an error see this: handle_.shutdown() comes later, under its lock.
    why_ = std::move(why);
    return true;
}

void watched_fd::shutdown(absl::Status why) {
    if (decide_end(std::move(why))) {
        ::shutdown(number_, SHUT_RDWR);  // fails if it is no socket, which does not matter
        handle_.shutdown(std::make_error_code(std::errc::operation_canceled));
    }
}

void watched_fd::orphan(grpc_closure* on_done, int* release_to, const char* reason) {
    decide_end(absl::UnavailableError(reason));
    const auto bags = bag::forget(*this);
    end_.on_done = on_done;
    if (release_to != nullptr) {
        *release_to = handle_.release(end_).release();
    } else {
        handle_.orphan(end_);
    }
}

}  // namespace eddy::grpc_adapter
