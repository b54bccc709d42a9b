#pragma once

#include <cstdint>

namespace eddy::kernel {

/// The calls that tests can make fail.
enum class call : std::uint8_t {
    read,
    write,
    recv,
    send,
    accept,
    connect,
    open,
    close,
    fsync,
    socket,  ///< socketpair too
    pipe,
    bind,
    listen,
    getsockname,
    getpeername,
    setsockopt,
    getsockopt,
    stat,
    truncate,
    seek,
    unlink,
    poll,
    eventfd,
    timerfd,
    signalfd,
    epoll_create,
    epoll_ctl,
    epoll_wait,
    uring_setup,
    uring_enter,
    uring_buffers,
    uring_receive_limit,  ///< no call: what the kernel is asked for is made invalid
    rwf_nosignal,         ///< no call: says that the kernel lacks the flag
    epoll_pwait2,         ///< no call: says that the kernel lacks it; epoll_wait is made instead
    clone,
    pidfd_info,  ///< the kernel has forgotten how the process ended, or never knew
    count_,
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint64_t calls;
}

/// How many syscalls this thread has made through this room.
inline std::uint64_t calls_made() noexcept { return detail::calls; }

/// Counts a call that is made elsewhere (by liburing).
inline void count_call() noexcept { ++detail::calls; }

/// The next `times` calls after `skip` more of that kind fail with `error` instead of being made.
/// Does nothing in a library that was built without EDDY_FAULTS.
/// Thread: any; meant for tests, before or between what they test.
void fail(call which, int error, unsigned skip = 0, unsigned times = 1) noexcept;
void fail_nothing() noexcept;

/// 0, or the error that the call is to fail with.
#ifdef EDDY_FAULTS
int injected(call which) noexcept;
#else
constexpr int injected(call) noexcept { return 0; }
#endif

}  // namespace eddy::kernel
