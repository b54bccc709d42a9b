#pragma once

#include <eddy/engine/io_operation.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/loop/descriptor.hpp>

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

    timer_heap& heap() noexcept { return *room_; }
    const std::shared_ptr<timer_heap>& room() noexcept { return room_; }
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
    std::shared_ptr<timer_heap> room_ = std::make_shared<timer_heap>();
    descriptor timerfd_;
    io_operation operation_;
    std::uint64_t expirations_ = 0;
    std::int64_t set_for_ns_ = INT64_MAX;
};

}  // namespace eddy
