// SPDX-License-Identifier: Apache-2.0

// Implements waiting in epoll and poll, eventfds and timerfds.
#include "kernel/event.hpp"

#include "kernel/own_fd.hpp"
#include "kernel/retried.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// The time left until `until`, as a relative timeout. Null means for ever.
const timespec* remaining(time_point until, timespec& storage) noexcept {
    if (until == never) {
        return nullptr;
    }
    duration left = duration::zero();
    if (until != time_point::min()) {
        const time_point now = clock::now();
        left = until > now ? until - now : duration::zero();
    }
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    storage.tv_sec = static_cast<time_t>(seconds.count());
    storage.tv_nsec = static_cast<long>((left - seconds).count());
    return &storage;
}

/// Milliseconds, rounded up. With rounding down, the last fraction would be spent spinning.
int remaining_ms(const timespec* left) noexcept {
    if (left == nullptr) {
        return -1;
    }
    constexpr std::int64_t longest = 24 * 3600 * 1000;
    const std::int64_t ms = std::min<std::int64_t>(left->tv_sec, longest) * 1000 +
                            (left->tv_nsec + 999'999) / 1'000'000;
    return static_cast<int>(std::min(ms, longest));
}

/// Kernels before 5.11, and valgrind, have no epoll_pwait2.
std::atomic<bool> has_pwait2{true};

io_result wait_once(int epoll, std::span<epoll_event> events, const timespec* left) noexcept {
    const int size = static_cast<int>(events.size());
    if (has_pwait2.load(std::memory_order_relaxed) && injected(call::epoll_pwait2) == 0) {
        const io_result count = once(call::epoll_wait, [&] {
            return ::epoll_pwait2(epoll, events.data(), size, left, nullptr);
        });
        if (count.system_error() != ENOSYS) {
            return count;
        }
        has_pwait2.store(false, std::memory_order_relaxed);
    }
    return once(call::epoll_wait,
                [&] { return ::epoll_wait(epoll, events.data(), size, remaining_ms(left)); });
}

std::error_code make_timerfd(int clock, unique_fd& out) noexcept {
    return keep_own(
        once(call::timerfd, [&] { return ::timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK); }),
        out);
}

/// Arms the timerfd for `when`. The end of time disarms it.
template <class TimePoint>
std::error_code set_timerfd(int fd, int flags, TimePoint when) noexcept {
    itimerspec value{};
    if (when != TimePoint::max()) {
        // All zeros would disarm it, so a time before the epoch becomes the epoch's first
        // nanosecond.
        const auto ns = std::max<std::int64_t>(when.time_since_epoch().count(), 1);
        value.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
        value.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    }
    // ECANCELED means that the clock was set just now. The kernel has armed the timer nevertheless.
    return surely(call::timerfd_settime,
                  [&] { return ::timerfd_settime(fd, TFD_TIMER_ABSTIME | flags, &value, nullptr); })
        .error();
}

}  // namespace

std::error_code make_eventfd(unique_fd& out) noexcept {
    return keep_own(once(call::eventfd, [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }),
                    out);
}

void signal_eventfd(int fd) noexcept {
    const std::uint64_t one = 1;
    // EAGAIN: the counter is full, so it is readable, which is all that a wake-up needs.
    retried(call::eventfd_write, [&] { return ::write(fd, &one, sizeof one); });
}

void drain_eventfd(int fd) noexcept {
    std::uint64_t count = 0;
    retried(call::eventfd_read, [&] { return ::read(fd, &count, sizeof count); });
}

std::error_code make_epoll(unique_fd& out) noexcept {
    return keep_own(once(call::epoll_create, [] { return ::epoll_create1(EPOLL_CLOEXEC); }), out);
}

std::error_code epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
    if (operation == EPOLL_CTL_DEL) {
        // Deletion needs no memory: even if a test lets the call fail, the fd is taken out.
        return surely(call::epoll_ctl, [&] { return ::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, event); })
            .error();
    }
    return once(call::epoll_ctl, [&] { return ::epoll_ctl(epoll, operation, fd, event); }).error();
}

io_result detail::epoll_wait_until(int epoll, std::span<epoll_event> events,
                                   time_point until) noexcept {
    timespec storage;
    return waited(wait_once(epoll, events, remaining(until, storage)));
}

io_result poll_wait(std::span<pollfd> fds, time_point until) noexcept {
    timespec storage;
    return detail::waited(once(call::poll, [&] {
        return ::ppoll(fds.data(), fds.size(), remaining(until, storage), nullptr);
    }));
}

std::error_code make_system_timerfd(unique_fd& out) noexcept {
    return make_timerfd(CLOCK_REALTIME, out);
}

std::error_code set_system_timerfd(int fd, system_time_point when) noexcept {
    return set_timerfd(fd, TFD_TIMER_CANCEL_ON_SET, when);
}

std::error_code make_steady_timerfd(unique_fd& out) noexcept {
    return make_timerfd(CLOCK_MONOTONIC, out);
}

std::error_code set_steady_timerfd(int fd, time_point when) noexcept {
    return set_timerfd(fd, 0, when);
}

}  // namespace eddy::kernel
