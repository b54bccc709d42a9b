// SPDX-License-Identifier: Apache-2.0

// The native handle of a loop, and the embedding, which adds a timerfd to it.
#include <eddy/loop/embedding.hpp>

#include "engine/engine.hpp"
#include "kernel/event.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/requests.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace eddy {

int loop::native_handle() {
    check_use();
    int handle = -1;
    if (auto failure = engine_->native_handle(handle)) {
        raise(std::string("no handle of the engine ") + to_string(engine_->kind()), failure);
    }
    if (!embedded_) {
        embedded_ = true;
        attend();  // earlier work has not settled
    }
    return handle;
}

void loop::call_attention() noexcept {
    if (!attended_ && !on_thread()) {
        attended_ = true;
        engine_->call_attention();
    }
}

/// Settles the loop before control goes back to the host that waits for the native handle. Anything
/// that the kernel will not report makes the handle readable here.
void loop::settle() noexcept {
    if (embedding_ != nullptr) {
        embedding_->set_timer();
    }
    const bool pause_is_due = engine_->backing_off() && !back_off_.armed();
    const bool settled =
        engine_->settle() && ready_.empty() && after_poll_.empty() && told_of_next_run_ == nullptr;
    // park() is last, as in harvest(): a push after it wakes the engine.
    if (!settled || pause_is_due || !inbox_.park()) {
        attended_ = true;
        engine_->call_attention();
    }
}

namespace {

descriptor make_timerfd(loop& home) {
    unique_fd fd;
    if (auto error = kernel::make_steady_timerfd(fd)) {
        throw std::system_error(error, "timerfd_create");
    }
    return descriptor(home, std::move(fd), {.kind = descriptor_kind::other, .name = "embedding"});
}

}  // namespace

embedding::embedding(loop& inner)
    : inner_(inner), handle_(inner.native_handle()), timer_(make_timerfd(inner)) {
    EDDY_ASSERT(inner.embedding_ == nullptr, "a loop was embedded that is embedded already");
    expiry_.set_background(true);
    inner.embedding_ = this;
    inner.attend();
}

embedding::~embedding() {
    EDDY_ASSERT(!inner_.on_thread(), "an embedding was destroyed from inside its run_ready()");
    if (inner_.embedding_ == this) {
        inner_.embedding_ = nullptr;
    }
    if (!inner_.lost_by_fork()) {
        inner_.abandon(expiry_);
    }
    timer_.close();
}

/// Sets the timerfd if it is set too late. It is never read: setting it makes it unreadable, and
/// each expiry is an event of its own. A timerfd that is set too early stays as it is, so that
/// deadlines that move to later cost no call.
void embedding::set_timer() noexcept {
    if (!expiry_.pending()) {
        inner_.start<&embedding::expiry_, &embedding::on_timer>(
            *this, wait_multishot(timer_, interest::readable));
    }
    if (const time_point next = inner_.next_in_heap(); next < set_for_) {
        // This cannot fail: the fd is ours, and the kernel takes any such time.
        static_cast<void>(kernel::set_steady_timerfd(timer_.native_handle(), next));
        set_for_ = next;
    }
}

void embedding::on_timer(io_result) noexcept {
    --inner_.counters_.completions;  // an internal completion does not count
    set_for_ = never;
}

}  // namespace eddy
