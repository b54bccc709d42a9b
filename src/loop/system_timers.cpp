// SPDX-License-Identifier: Apache-2.0

// Keeps the timerfd of the system-clock timers set, and queues the timers that are due.
#include "loop/system_timers.hpp"

#include "kernel/event.hpp"

#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <cerrno>

namespace eddy {

namespace {

descriptor make_timerfd(loop& home) {
    unique_fd fd;
    if (auto error = kernel::make_system_timerfd(fd)) {
        throw std::system_error(error, "timerfd_create");
    }
    return descriptor(home, std::move(fd), {.kind = descriptor_kind::other, .name = "timerfd"});
}

}  // namespace

system_timers::system_timers(loop& home)
    : home_(home), room_(timer_room::make(home)), timerfd_(make_timerfd(home)) {
    operation_.set_background(true);
}

void system_timers::read() noexcept {
    const auto buffer = std::as_writable_bytes(std::span(&expirations_, 1));
    home_.start<&system_timers::operation_, &system_timers::on_read>(*this,
                                                                     eddy::read(timerfd_, buffer));
}

void system_timers::on_read(io_result result) noexcept {
    --home_.counters_.completions;  // an internal completion does not count
    set_for_ns_ = INT64_MAX;        // the timerfd may have expired
    if (!timerfd_ || home_.draining_ || result.system_error() == EBADF) {
        return;  // nothing to wait for; or others closed the timerfd, and trying again would spin
    }
    // Expired, or ECANCELED because the clock was set: in both cases the clock says what is due.
    expire();
    update();
}

void system_timers::after_fork_in_child() {
    timerfd_ = make_timerfd(home_);
    set_for_ns_ = INT64_MAX;
    update();
}

void system_timers::expire() noexcept {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = std::chrono::duration_cast<duration>(now).count();
    while (timer_node* const node = heap().pop_due(now_ns)) {
        home_.due(timer_base::of(*node));
    }
}

void system_timers::update() noexcept {
    const std::int64_t next = heap().empty() ? INT64_MAX : heap().next_deadline_ns();
    if (next != set_for_ns_) {
        const auto when =
            next == INT64_MAX ? system_time_point::max() : system_time_point(duration(next));
        // This cannot fail: the fd is ours, and the kernel takes any such time.
        static_cast<void>(kernel::set_system_timerfd(timerfd_.native_handle(), when));
        set_for_ns_ = next;
    }
    if (!heap().empty() && !operation_.pending()) {
        read();  // last, because its completion may come back here
    }
}

}  // namespace eddy
