// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/pollset/closure.hpp>
#include <eddy/pollset/detail/work_item.hpp>

#include <system_error>

namespace eddy {

class pollset;

/// Calls a closure at a given time, on a worker of its pollset. The call is never early. Timers
/// with equal deadlines are called in the order in which they were set.
///
/// The priority ranks the closure among all that are due in the pollset, including those of
/// handles: see poll_handle_options::priority. A timer is due when its time has come and a worker
/// has looked at the kernel since. Timers of one look that have equal priorities are called in the
/// order of their deadlines; they have no order relative to handles of that priority.
///
/// Thread: any. A timer that is set again inside its closure may be due, and called by another
/// worker, before that call has returned. Lifetime: may be destroyed from inside its closure, or
/// when no thread is in a call of it; destruction cancels. Must end before its pollset does. When
/// the pollset is shut down, timers that are set are called with `operation_canceled`.
///
/// With an executor, the closure belongs to the executor from the deadline (or the shutdown) on. It
/// must stay until the executor has called it, even if the timer is gone.
class EDDY_API pollset_timer {
public:
    /// Acquires everything that the timer will need. Throws std::system_error.
    pollset_timer(pollset& set, closure& due, priority_level priority = default_priority);
    pollset_timer(const pollset_timer&) = delete;
    pollset_timer& operator=(const pollset_timer&) = delete;
    ~pollset_timer();

    /// Sets the timer, or moves it if it is set. Errors, which change nothing: `operation_canceled`
    /// if the pollset is shut down, `connection_already_in_progress` if the closure waits elsewhere
    /// or belongs to the executor, `errc::forked`.
    std::error_code set_at(time_point when) noexcept;
    std::error_code set_after(duration delay) noexcept {
        return set_at(saturating_add(clock::now(), delay));
    }
    /// Cancels the timer. Returns true if the closure will not be called, false if the timer is not
    /// set, the call has begun, or the executor has the closure.
    bool cancel() noexcept;

private:
    pollset& set_;
    detail::single_item item_;
    timer_node node_;

    friend class detail::poll_core;
};

}  // namespace eddy
