// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/poll_handle.hpp>

#include <array>
#include <atomic>
#include <vector>

namespace eddy::grpc_adapter {

/// gRPC's handle of a descriptor. Made by `new`; orphan() is its end.
class watched_fd final {
public:
    watched_fd(int number, const char* name);
    watched_fd(const watched_fd&) = delete;
    watched_fd& operator=(const watched_fd&) = delete;

    int number() const noexcept { return number_; }
    poll_handle& handle() noexcept { return handle_; }

    /// Precondition: nobody waits for that event.
    void notify_on(poll_event_kind kind, grpc_closure* call);
    void make_ready(poll_event_kind kind) noexcept { handle_.make_ready(kind); }

    /// The waits there are, and all later ones, end with `why`; the first call decides.
    void shutdown(absl::Status why);
    bool is_shut_down() const noexcept { return handle_.is_shut_down(); }
    /// Closes the descriptor, or gives it back if `release_to` is not null.
    void orphan(grpc_closure* on_done, int* release_to, const char* reason);

private:
    struct wait final : closure {
        explicit wait(watched_fd& f) noexcept;

        watched_fd& owner;
        grpc_closure* call = nullptr;
    };
    struct end final : closure {
        explicit end(watched_fd& f) noexcept;

        watched_fd& owner;
        grpc_closure* on_done = nullptr;
    };

    ~watched_fd();
    bool decide_end(absl::Status why);

    int number_;
    poll_handle handle_;
    std::array<wait, 3> waits_;
    end end_;
    std::atomic<bool> end_decided_{false};
    absl::Status why_;  ///< of shutdown: written once, before the handle is shut down
    grpc_iomgr_object object_{};
    std::vector<bag*> bags_;  ///< that it is in; guarded by their lock

    friend class bag;
};

}  // namespace eddy::grpc_adapter
