#pragma once

#include "kernel/call.hpp"
#include "kernel/direct.hpp"

#include <eddy/base/clock.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include <sys/epoll.h>

struct pollfd;

/// Waiting, and being woken. A wait takes an absolute deadline, may come back early with nothing
/// (a signal, a clock that ticks coarsely), and never waits past it by rounding down.
namespace eddy::kernel {

std::error_code make_eventfd(unique_fd& out) noexcept;
void signal_eventfd(int fd) noexcept;
void drain_eventfd(int fd) noexcept;

std::error_code make_epoll(unique_fd& out) noexcept;
std::error_code epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept;
/// Whether adding it fails because it is there: by this number, as this open file.
inline bool is_in_epoll(int epoll, int fd, epoll_event* event) noexcept {
    count_call();
    return injected(call::epoll_ctl) == 0 &&
           direct::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, event).system_error() == EEXIST;
}
/// `count` is 0 if the time is over or the wait was interrupted.
inline std::error_code epoll_wait(int epoll, std::span<epoll_event> events, time_point until,
                                  std::size_t& count) noexcept;

std::error_code poll_wait(std::span<pollfd> fds, time_point until, std::size_t& count) noexcept;

/// A timerfd on the system clock that also becomes readable when the clock is set.
std::error_code make_system_timerfd(unique_fd& out) noexcept;
/// `system_time_point::max()` disarms it.
std::error_code set_system_timerfd(int fd, system_time_point when) noexcept;
std::error_code make_steady_timerfd(unique_fd& out) noexcept;
/// `never` disarms it.
std::error_code set_steady_timerfd(int fd, time_point when) noexcept;

namespace detail {

/// What a call that counts says.
inline std::error_code counted(io_result result, std::size_t& count) noexcept {
    count = result.count();
    const int error = result.system_error();
    return error == 0 || error == EINTR ? std::error_code()
                                        : std::error_code(error, std::system_category());
}

std::error_code epoll_wait_until(int epoll, std::span<epoll_event> events, time_point until,
                                 std::size_t& count) noexcept;

}  // namespace detail

inline std::error_code epoll_wait(int epoll, std::span<epoll_event> events, time_point until,
                                  std::size_t& count) noexcept {
    count = 0;
    count_call();
    if (const int error = injected(call::epoll_wait); error != 0) {
        return error == EINTR ? std::error_code() : std::error_code(error, std::system_category());
    }
    if (until != never && until != time_point::min()) {
        return detail::epoll_wait_until(epoll, events, until, count);
    }
    // Neither an end nor a wait: the older call takes the kernel less.
    return detail::counted(direct::epoll_wait(epoll, events.data(), static_cast<int>(events.size()),
                                              until == never ? -1 : 0),
                           count);
}

}  // namespace eddy::kernel
