// SPDX-License-Identifier: Apache-2.0

// Waiting and waking. A wait takes an absolute deadline, and may return early with nothing (a
// signal, a coarse clock). Timeouts are rounded up, so that no wait spins until its deadline.
#pragma once

#include "kernel/direct.hpp"
#include "kernel/once.hpp"

#include <eddy/base/clock.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include <sys/epoll.h>

struct pollfd;

namespace eddy::kernel {

std::error_code make_eventfd(unique_fd& out) noexcept;
void signal_eventfd(int fd) noexcept;
void drain_eventfd(int fd) noexcept;

std::error_code make_epoll(unique_fd& out) noexcept;
std::error_code epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept;
/// True if adding `fd` fails because it is present, with this number and this open file. Otherwise
/// the call may have added it.
inline bool is_in_epoll(int epoll, int fd, epoll_event* event) noexcept {
    return once(call::epoll_ctl, [&] {
               return direct::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, event);
           }).system_error() == EEXIST;
}
/// Waits, and returns the number of ready fds or an error. 0 means that the deadline has passed or
/// that a signal interrupted the wait.
inline io_result epoll_wait(int epoll, std::span<epoll_event> events, time_point until) noexcept;
io_result poll_wait(std::span<pollfd> fds, time_point until) noexcept;

/// Makes a timerfd on the system clock that also becomes readable when the clock is set.
std::error_code make_system_timerfd(unique_fd& out) noexcept;
/// Arms the timerfd. `system_time_point::max()` disarms it.
std::error_code set_system_timerfd(int fd, system_time_point when) noexcept;
std::error_code make_steady_timerfd(unique_fd& out) noexcept;
/// Arms the timerfd. `never` disarms it.
std::error_code set_steady_timerfd(int fd, time_point when) noexcept;

namespace detail {

/// Turns an interrupted wait into a wait that found nothing.
inline io_result waited(io_result result) noexcept {
    return !result.ok() && result.system_error() == EINTR ? io_result() : result;
}

io_result epoll_wait_until(int epoll, std::span<epoll_event> events, time_point until) noexcept;

}  // namespace detail

inline io_result epoll_wait(int epoll, std::span<epoll_event> events, time_point until) noexcept {
    if (until != never && until != time_point::min()) {
        return detail::epoll_wait_until(epoll, events, until);
    }
    // Without a finite timeout, epoll_wait() costs the kernel less than epoll_pwait2().
    return detail::waited(once(call::epoll_wait, [&] {
        return direct::epoll_wait(epoll, events.data(), static_cast<int>(events.size()),
                                  until == never ? -1 : 0);
    }));
}

}  // namespace eddy::kernel
