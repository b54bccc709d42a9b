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
/// While it is disarmed the clock goes on: what expires is counted, and told when it is armed
/// again.
///
/// Reactions: `rearm` and `again` leave it armed, for the next deadline of an interval or one that
/// is set; `requeue` calls it again with the same count; the others as with every watch.
///
/// Thread: the loop's, except what watch marks "any".
class EDDY_API timer_watch : public watch {
public:
    using callback = reaction (*)(timer_watch&) noexcept;
    using removed_callback = void (*)(timer_watch&) noexcept;

    /// Throws std::bad_alloc; for the first one of a loop with the system clock, std::system_error.
    explicit timer_watch(loop& home, callback on_expired, removed_callback on_removed = nullptr,
                         const watch_options& options = {},
                         timer_clock which = timer_clock::steady);
    ~timer_watch() override;

    /// Sets the deadline, in place of any other. A past one expires at once. An interval of zero:
    /// once. What has expired and was not told is dropped.
    void set_at(time_point when, duration interval = duration::zero()) noexcept;
    /// With the system clock. It follows the setting of that clock.
    void set_at(system_time_point when, duration interval = duration::zero()) noexcept;
    void set_after(duration delay, duration interval = duration::zero()) noexcept;
    /// No deadline any more. Drops what has expired and was not told.
    void clear() noexcept;

    /// It has a deadline to come.
    bool is_set() const noexcept { return timer_.armed(); }
    /// Inside the callback: how many deadlines have passed since it was called last. Elsewhere: how
    /// many it will be told of.
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
    entry fire_;  ///< for what has expired while it was disarmed
    callback on_expired_;
    removed_callback on_removed_;
    std::uint64_t missed_ = 0;  ///< expirations that were not told
    std::uint64_t told_ = 0;
};

}  // namespace eddy
