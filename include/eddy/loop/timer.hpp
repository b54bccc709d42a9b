// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/loop/detail/timer_base.hpp>

#include <atomic>
#include <cstdint>

namespace eddy {

class loop;

enum class timer_clock : std::uint8_t {
    steady,
    system,  ///< follows the setting of the clock
};

/// A timer of one loop. Set and cancelled through the loop, from any thread; for what only the
/// loop's own sets, there is the local_timer, which is smaller.
///
///     idle --post_at()--> armed --due--> idle, then on_run
///     any  --cancel()---> cancelling --> idle, then on_cancel
///
/// With an interval it is armed again before on_run is called.
///
/// Never early; equal deadlines in the order in which they were set (or, from outside the loop's
/// thread, in which the loop was told first). Room for it is reserved here, so that setting, moving
/// and firing never allocate and never fail.
///
/// Lifetime: while it is armed, and after cancel() until on_cancel was called. One that is not
/// armed may outlive the loop. The callbacks run on the loop's thread, must not throw, and may set
/// the timer again or destroy it.
class timer : public timer_base {
public:
    using callback = void (*)(timer&) noexcept;

    /// Thread: any; with timer_clock::system, the loop's. Throws std::bad_alloc, and for the first
    /// one with the system clock std::system_error.
    EDDY_API explicit timer(loop& home, callback on_run, callback on_cancel = nullptr,
                            timer_clock which = timer_clock::steady);
    EDDY_API ~timer();

    timer_clock which_clock() const noexcept {
        return system_clock_ ? timer_clock::system : timer_clock::steady;
    }

    /// The following, as above: the loop's thread, or before the timer is set.
    /// Zero: one shot. Deadlines are multiples from the first one; what was missed is counted.
    void set_interval(duration interval) noexcept { interval_ns_ = interval.count(); }
    void set_name(const char* name) noexcept { name_ = name; }
    /// How many deadlines have passed since on_run was called last: 1, or more for an interval.
    std::uint64_t expirations() const noexcept { return expirations_; }

private:
    static constexpr std::int64_t no_command = 0;  // what takes fewest instructions to ask for
    static constexpr std::int64_t cancel_command = 1;
    /// As deadlines those two are as past as their neighbour.
    static constexpr std::int64_t as_deadline(std::int64_t when_ns) noexcept {
        return when_ns == no_command || when_ns == cancel_command ? cancel_command + 1 : when_ns;
    }

    class command_node : public queue_node {
    public:
        command_node() noexcept : queue_node(node_kind::timer_command) {}
    };

    static timer_room& room_of(loop& home, timer_clock which);

    /// What another thread wants; `no_command` while `command_` is not in the inbox.
    std::atomic<std::int64_t> wanted_ns_{no_command};
    callback on_run_;
    callback on_cancel_;
    std::int64_t interval_ns_ = 0;
    std::uint64_t expirations_ = 0;
    const char* name_ = nullptr;
    command_node command_;

    friend class loop;
    friend class system_timers;
};

}  // namespace eddy
