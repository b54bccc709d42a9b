// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/detail/timer_room.hpp>

#include <cstdint>
#include <memory>

namespace eddy {

class loop;

/// Timers on the system clock: one timerfd, set to the earliest of them, that also becomes readable
/// when the clock is set.
class system_timers {
public:
    /// Throws std::system_error.
    explicit system_timers(loop& home);

    timer_heap& heap() noexcept { return room_->heap; }
    timer_room& room() noexcept { return *room_; }
    /// The earliest deadline may have changed.
    void update() noexcept;
    /// Ends the reading of the timerfd.
    void close() noexcept { timerfd_.close(); }
    /// The timerfd is the parent's: makes another. Throws std::system_error.
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
