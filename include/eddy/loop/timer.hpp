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

/// A timer of one loop, set and cancelled through that loop from any thread. A local_timer is
/// smaller, for timers that only the loop's thread sets.
///
///     idle --post_at()--> armed --due--> idle, then on_run
///     any  --cancel()---> cancelling --> idle, then on_cancel
///
/// With an interval, the timer is armed again before on_run is called.
///
/// A timer never fires early. Equal deadlines fire in the order in which they were set or, if other
/// threads set them, in which the loop was first notified. The constructor reserves room, so that
/// setting, moving and firing never allocate and never fail.
///
/// Lifetime: the timer must stay alive while it is armed, and from cancel() until on_cancel was
/// called. An unarmed timer may outlive the loop. The callbacks run on the loop's thread, must not
/// throw, and may set the timer again or destroy it.
class timer : public timer_base {
public:
    using callback = void (*)(timer&) noexcept;

    /// Throws std::bad_alloc, and std::system_error for the loop's first timer with the system
    /// clock. Thread: any; with timer_clock::system, the loop's.
    EDDY_API explicit timer(loop& home, callback on_run, callback on_cancel = nullptr,
                            timer_clock which = timer_clock::steady);
    EDDY_API ~timer();

    timer_clock which_clock() const noexcept {
        return system_clock_ ? timer_clock::system : timer_clock::steady;
    }

    /// Arms the timer again after each deadline; zero means one shot. Deadlines are multiples from
    /// the first one, and missed ones are counted. Thread: the loop's, or any before the first set.
    void set_interval(duration interval) noexcept { interval_ns_ = interval.count(); }
    /// Names the timer in lists of live operations. Lifetime: `name` must outlive the timer.
    void set_name(const char* name) noexcept { name_ = name; }
    /// Returns how many deadlines have passed since the last on_run: 1, or more with an interval.
    std::uint64_t expirations() const noexcept { return expirations_; }

private:
    static constexpr std::int64_t no_command = 0;  // the value that is cheapest to compare with
    static constexpr std::int64_t cancel_command = 1;
    /// Maps the two commands to the next value, which as a deadline is just as far in the past.
    static constexpr std::int64_t as_deadline(std::int64_t when_ns) noexcept {
        return when_ns == no_command || when_ns == cancel_command ? cancel_command + 1 : when_ns;
    }

    class command_node : public queue_node {
    public:
        command_node() noexcept : queue_node(node_kind::timer_command) {}
    };

    static timer_room& room_of(loop& home, timer_clock which);

    /// The command of another thread; `no_command` while `command_` is not in the inbox.
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
