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

/// Calls a closure at a time, on a worker of its pollset. Never early; equal deadlines in the order
/// in which they were set.
///
/// The priority ranks the closure among all that are due in the pollset, those of handles included:
/// see poll_handle_options::priority. A timer is due when its time has come and a worker has looked
/// at the kernel since. Timers of one look that have equal priorities are called in the order of
/// their deadlines; between them and handles of that priority there is no order.
///
/// Thread: any. Set again inside its closure, it may be due, and called by another worker, before
/// that call has returned. Lifetime: may be destroyed from inside its closure, or when no thread is
/// in a call of it: destruction cancels. Ends before its pollset does; when that is shut down, what
/// is set is called with `operation_canceled`.
///
/// With an executor: from its time on (or from the shutdown on) the closure is the executor's, and
/// must stay until that has called it, whatever becomes of the timer.
class EDDY_API pollset_timer {
public:
    /// Everything that could fail happens here. Throws std::system_error.
    pollset_timer(pollset& set, closure& due, priority_level priority = default_priority);
    pollset_timer(const pollset_timer&) = delete;
    pollset_timer& operator=(const pollset_timer&) = delete;
    ~pollset_timer();

    /// Sets it, or moves it if it is set. `operation_canceled` if the pollset is shut down,
    /// `connection_already_in_progress` if its closure waits elsewhere, or is the executor's:
    /// nothing has changed then; `errc::forked`.
    std::error_code set_at(time_point when) noexcept;
    std::error_code set_after(duration delay) noexcept {
        return set_at(saturating_add(clock::now(), delay));
    }
    /// True: the closure will not be called. False: it is not set, or its call has begun, or the
    /// executor has it.
    bool cancel() noexcept;

private:
    pollset& set_;
    detail::single_item item_;
    timer_node node_;

    friend class detail::poll_core;
};

}  // namespace eddy
