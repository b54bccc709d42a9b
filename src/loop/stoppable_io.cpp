// SPDX-License-Identifier: Apache-2.0

// Starts and stops I/O operations from other threads, and ends pending ones.
#include <eddy/loop/detail/stoppable_io.hpp>

#include "loop/stranded_waits.hpp"

#include <eddy/loop/loop.hpp>

namespace eddy {

void stoppable_io::take_back() noexcept {
    EDDY_ASSERT(home_->on_thread() || !home_->running_.load(std::memory_order_relaxed),
                "an I/O operation was destroyed while it was pending, and not on its loop's "
                "thread: stop it and wait for its completion first");
#ifndef NDEBUG
    if (!home_->on_thread()) {
        stranded_waits::forget(*home_);
    }
#endif
    home_->attend();      // an embedded loop is awake after this
    home_->take_inbox();  // the operation's start or stop may be in it
    home_->abandon(*this);
}

void stoppable_io::start_elsewhere() noexcept { home_->post_start(*this); }

void stoppable_io::request_stop() noexcept {
    if (home_->on_thread()) {
        home_->cancel(static_cast<io_operation&>(*this));
        return;
    }
    stop_posted_ = true;
    home_->post_stop(*this);
}

void stoppable_io::take_inbox() noexcept { home_->take_inbox(); }

/// Called by the loop when it takes the node of a stop. Thread: the loop's.
void stoppable_io::stop_taken() noexcept {
    stop_posted_ = false;
    home_->cancel(static_cast<io_operation&>(*this));
}

}  // namespace eddy
