#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/unique_fd.hpp>

#include <span>
#include <system_error>

struct epoll_event;
struct pollfd;

/// Waiting, and being woken. A wait takes an absolute deadline, may come back early with nothing
/// (a signal, a clock that ticks coarsely), and never waits past it by rounding down.
namespace eddy::kernel {

std::error_code make_eventfd(unique_fd& out) noexcept;
void signal_eventfd(int fd) noexcept;
void drain_eventfd(int fd) noexcept;

std::error_code make_epoll(unique_fd& out) noexcept;
std::error_code epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept;
/// `count` is 0 if the time is over or the wait was interrupted.
std::error_code epoll_wait(int epoll, std::span<epoll_event> events, time_point until,
                           std::size_t& count) noexcept;

std::error_code poll_wait(std::span<pollfd> fds, time_point until, std::size_t& count) noexcept;

/// A timerfd on the system clock that also becomes readable when the clock is set.
std::error_code make_system_timerfd(unique_fd& out) noexcept;
/// `system_time_point::max()` disarms it.
std::error_code set_system_timerfd(int fd, system_time_point when) noexcept;
std::error_code make_steady_timerfd(unique_fd& out) noexcept;
/// `never` disarms it.
std::error_code set_steady_timerfd(int fd, time_point when) noexcept;

}  // namespace eddy::kernel
