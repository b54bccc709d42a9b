// SPDX-License-Identifier: Apache-2.0

// The native handle of an io_uring engine.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_engine.hpp"
#include "kernel/event.hpp"

#include <utility>

namespace eddy {

/// Replaces the ring by one that writes an eventfd.
call_failure uring_engine::native_handle(int& out) noexcept {
    if (!told_) {
        disown();
        if (ring_.belongs_to_another_thread()) {
            return {std::make_error_code(std::errc::operation_not_permitted)};
        }
        bool busy = !results_.unused();
        for_each_operation([&](io_operation& op) { busy |= op.in_kernel_ && !in_backlog(op); });
        if (busy) {
            return {std::make_error_code(std::errc::device_or_resource_busy)};
        }
        unique_fd fd;
        if (auto error = kernel::make_eventfd(fd)) {
            return {error, "eventfd"};
        }
        told_ = std::move(fd);
        close_ring();
        if (auto failure = open(entries_)) {
            told_.reset();  // wait() makes a ring without it
            return failure;
        }
    }
    out = told_.get();
    return {};
}

bool uring_engine::settle() noexcept {
    // Not `wake_`: the kernel may report too late what one eventfd causes through another.
    wake_fd_.store(told_.get(), std::memory_order_relaxed);
    if (!wake_armed_) {
        arm_wake();
    }
    const bool all_fed = feed_receives();
    drain_backlog();
    const auto error = ring_.enter(0, time_point::min());
    // Earlier reports are looked for after this; later ones write the eventfd again.
    kernel::drain_eventfd(told_.get());
    return ring_.is_open() && !error && all_fed && prepared_ && backlog_.empty() &&
           !ring_.has_completion() && ring_.settled() && may_sleep();
}

}  // namespace eddy

#endif
