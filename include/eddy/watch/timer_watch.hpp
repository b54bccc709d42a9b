// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/loop/timer.hpp>
#include <eddy/watch/watch.hpp>

#include <cstdint>

namespace eddy {

/// Calls back when a deadline has passed, once or at an interval.
///
///     timer_watch w(loop, &on_tick);
///     w.set_after(100ms, 1s);
///
/// While the watch is disarmed the clock goes on: expirations are counted, and reported when it is
/// armed again.
///
/// Reactions: `rearm` and `again` arm the watch for the next deadline of an interval, or for one
/// that is set; `requeue` repeats the call with the same count; the others are as usual.
///
/// Thread: the loop's, except what watch marks "any".
class EDDY_API timer_watch : public watch {
public:
    using callback = reaction (*)(timer_watch&) noexcept;
    using removed_callback = void (*)(timer_watch&) noexcept;

    /// Throws std::bad_alloc; for a loop's first timer on the system clock also std::system_error.
    explicit timer_watch(loop& home, callback on_expired, removed_callback on_removed = nullptr,
                         const watch_options& options = {},
                         timer_clock which = timer_clock::steady);
    ~timer_watch() override;

    /// Sets the deadline, in place of any other. A past one expires at once. With an interval of
    /// zero it expires once. Expirations that were not reported are dropped.
    void set_at(time_point when, duration interval = duration::zero()) noexcept;
    /// Sets a deadline of the system clock, which moves when that clock is set.
    void set_at(system_time_point when, duration interval = duration::zero()) noexcept;
    void set_after(duration delay, duration interval = duration::zero()) noexcept;
    /// Removes the deadline, and drops expirations that were not reported.
    void clear() noexcept;

    /// True if a deadline is still to come.
    bool is_set() const noexcept { return timer_.armed(); }
    /// Inside the callback: how many deadlines have passed since the last call. Elsewhere: how many
    /// the next call will report.
    std::uint64_t expirations() const noexcept { return calling() ? told_ : missed_; }

private:
    reaction call() noexcept final;
    void start(arming how) noexcept final;
    void stop() noexcept final;
    void reprioritise(priority_level priority) noexcept final;
    void removed() noexcept final;
    void on_due() noexcept;
    void on_fire() noexcept;
    void prepare(duration interval) noexcept;

    timer timer_;
    entry fire_;  ///< calls back for expirations while it was disarmed
    callback on_expired_;
    removed_callback on_removed_;
    std::uint64_t missed_ = 0;  ///< expirations that were not reported
    std::uint64_t told_ = 0;
};

}  // namespace eddy
