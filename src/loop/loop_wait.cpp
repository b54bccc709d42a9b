// SPDX-License-Identifier: Apache-2.0

// Retries waits that the kernel refuses, and ends everything if the error stays.
#include "base/report.hpp"
#include "engine/engine.hpp"
#include "kernel/pause.hpp"
#include "loop/blocking_call.hpp"
#include "loop/patience.hpp"
#include "loop/run_error.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>

namespace eddy {

/// Takes note of a refused wait. The kernel may be short of something for a while, so this turn
/// goes on as if nothing had come. Every turn looks at the kernel until waiting works again, so
/// that a turn without a failure proves that it does. Counting successful looks would cost.
void loop::wait_failed(io_result found) {
    if (wait_retry_.failing() && has_waited()) {
        waits_again();
    }
    failed_turn_ = counters_.turns;
    looked_at_ = time_point();  // see next_look()
    const std::error_code error = found.error();
    // The end of a loop must give up waiting before it reports its operations as stuck.
    const duration limit =
        destroying_ ? std::min(options_.wait_retry, patience / 2) : options_.wait_retry;
    switch (wait_retry_.failed(error, clock::now(), limit)) {
        case wait_retry::verdict::give_up:
            cannot_wait(error);
        case wait_retry::verdict::first:
            reportf("the loop '%s' cannot wait: %s: %s; it tries again for %.3g s", options_.name,
                    engine_->wait_call(), words_of(error),
                    std::chrono::duration<double>(limit).count());
            break;
        case wait_retry::verdict::again:
            break;
    }
    look_after_trouble();
    take_pause(wait_retry_.pause());
}

/// True if a whole turn has passed since the last failure.
bool loop::has_waited() const noexcept { return counters_.turns > failed_turn_ + 1; }

void loop::waits_again() noexcept {
    wait_retry_.worked();
    reportf("the loop '%s' waits again", options_.name);
}

/// Sets the timer that checks if the trouble is over.
void loop::look_after_trouble() noexcept {
    if (wait_retry_.failing() && !back_off_.armed()) {
        back_off_until(saturating_add(clock::now(), 2 * wait_retry_.pause()));
    }
}

/// Called when the loop's own timer is due.
void loop::end_back_off() noexcept {
    if (engine_->backing_off()) {
        engine_->end_back_off();
    }
    if (wait_retry_.failing() && has_waited()) {
        waits_again();
    }
    look_after_trouble();
}

/// Pauses before the next try, in slices: posts and stops of other threads write to an eventfd,
/// which does not end a sleep. An embedded loop pauses for a moment even if it must not wait,
/// because its host finds the native handle readable all the time.
void loop::take_pause(duration pause) noexcept {
    constexpr duration slice = std::chrono::milliseconds(10);
    time_point now = clock::now();
    const time_point latest =
        embedded_ ? std::max(run_until_, now + wait_retry::first_pause) : run_until_;
    const time_point end = std::min({saturating_add(now, pause), latest, next_in_heap()});
    while (nothing_to_run() && now < end) {
        kernel::pause_for(std::min(slice, end - now));
        now = clock::now();
    }
}

/// Ends everything that is pending, and throws: the caller may destroy its operations next.
void loop::cannot_wait(std::error_code error) {
    const char* const call = engine_->wait_call();
    end_without_kernel();
    raise_run_error(error, options_.name, "cannot wait", call);
}

/// Ends everything that is pending, as the end of the loop does, and waits for the executor's
/// calls.
void loop::end_without_kernel() noexcept {
    constexpr duration slice = std::chrono::milliseconds(1);
    engine_->give_up_kernel();
    completion_limit_ = UINT64_MAX;
    set_ends(true, destroying_);
    const time_point give_up = saturating_add(clock::now(), patience);
    do {
        take_inbox();
        take_after_poll();
        cancel_entries();
        cancel_operations(true);
        cancel_timers();
        if (nothing_to_run() && !idle()) {
            kernel::pause_for(slice);
        }
        run_ready(options_.batch_max);
    } while (!idle() && clock::now() < give_up);
}

}  // namespace eddy
