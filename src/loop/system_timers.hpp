// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/detail/timer_room.hpp>

#include <cstdint>
#include <memory>

namespace eddy {

class loop;

/// The system-clock timers of a loop, with one timerfd. It is set to the earliest of them, and also
/// becomes readable when the clock is set.
class system_timers {
public:
    /// Throws std::system_error.
    explicit system_timers(loop& home);

    timer_heap& heap() noexcept { return room_->heap; }
    timer_room& room() noexcept { return *room_; }
    /// Sets the timerfd again after a change of the earliest deadline.
    void update() noexcept;
    /// Closes the timerfd, which ends the reading of it.
    void close() noexcept { timerfd_.close(); }
    /// Replaces the timerfd, which is the parent's. Throws std::system_error.
    void after_fork_in_child();

private:
    void read() noexcept;
    void on_read(io_result result) noexcept;
    void expire() noexcept;

    loop& home_;
    const std::unique_ptr<timer_room, timer_room::leaver> room_;
    descriptor timerfd_;
    io_operation operation_;
    std::uint64_t expirations_ = 0;
    std::int64_t set_for_ns_ = INT64_MAX;
};

}  // namespace eddy
