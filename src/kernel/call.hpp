// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::kernel {

/// The kinds of calls that tests can make fail.
enum class call : std::uint8_t {
    read,
    write,
    recv,
    send,  ///< also sendfile
    accept,
    connect,
    open,
    close,  ///< the fd is closed nevertheless
    fsync,
    socket,  ///< also socketpair
    pipe,
    bind,
    listen,
    shutdown,
    getsockname,
    getpeername,
    setsockopt,
    getsockopt,
    fstat,
    stat,  ///< by path
    truncate,
    seek,
    unlink,
    readlink,
    isatty,
    fcntl,
    dupfd,
    poll,
    eventfd,
    eventfd_read,
    eventfd_write,
    timerfd,
    timerfd_settime,
    signalfd,
    epoll_create,
    epoll_ctl,
    epoll_wait,
    uring_setup,
    uring_enter,
    uring_register,
    uring_buffers,
    uring_exit,
    futex_wait,
    futex_wake,
    memory,  ///< mmap, madvise, munmap
    clone,
    pidfd_open,
    pidfd_send_signal,
    pidfd_signal_group,  ///< no call: pretends that the kernel lacks the flag
    pidfd_info,          ///< failure: the kernel does not know how the process ended
    kill,
    waitid,
    sigmask,
    sigpending,
    sigtimedwait,
    sigaction,
    sigqueue,
    prctl,
    affinity,
    getrusage,
    sleep,
    yield,
    thread,  ///< starting one
    thread_join,
    getid,                ///< getpid, gettid
    uring_receive_limit,  ///< no call: makes the request to the kernel invalid
    rwf_nosignal,         ///< no call: pretends that the kernel lacks the flag
    epoll_pwait2,  ///< no call: pretends that the kernel lacks it; epoll_wait is used instead
    count_,
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint64_t calls;
}

/// The number of system calls that this thread has made through this room.
inline std::uint64_t calls_made() noexcept { return detail::calls; }

/// Makes the next `times` calls of this kind, after `skip` successful ones, fail with `error`
/// instead of being made. An operation submitted to io_uring counts as the call that it stands for;
/// it ends with the error if the kernel can be made to report it
/// (uring_faults::can_inject_results()).
/// Does nothing in a library that was built without EDDY_FAULTS.
/// Thread: any; meant for tests, before or between the code under test.
void fail(call which, int error, unsigned skip = 0, unsigned times = 1) noexcept;

/// Makes the next `times` transfers of more than `to` bytes, after `skip` such transfers, move only
/// `to` bytes. Of several vectors only the first one with bytes is used. A message that io_uring
/// receives with a name or with control data stays whole. Linux itself never shortens a transfer of
/// a TCP socket or a write to a pipe while there is more to move, and epoll relies on that. Does
/// nothing in a library that was built without EDDY_FAULTS. Thread: any; meant for tests, before or
/// between the code under test.
void shorten(call which, std::size_t to, unsigned skip = 0, unsigned times = 1) noexcept;

/// Ends all faults planned by fail() and shorten(), and resets fired() to 0.
void fail_nothing() noexcept;

/// The number of calls that have failed or were shortened on request of a test.
std::uint64_t fired() noexcept;
/// The number of calls of this kind that have failed or were shortened on request of a test.
std::uint64_t fired(call which) noexcept;

#ifdef EDDY_FAULTS
/// False if no fault is planned for this thread, so that injected() and shortened() change nothing.
bool faults_are_planned() noexcept;
/// The error with which the call must fail, or 0.
int injected(call which) noexcept;
/// `size`, or the smaller one that a test requested.
std::size_t shortened(call which, std::size_t size) noexcept;

/// While such an object exists, no call of its thread fails or is shortened: the thread's calls are
/// not those for which a test planned a fault.
class faults_held_off {
public:
    faults_held_off() noexcept;
    ~faults_held_off();
    faults_held_off(const faults_held_off&) = delete;
    faults_held_off& operator=(const faults_held_off&) = delete;

private:
    bool outer_;
};
#else
constexpr int injected(call) noexcept { return 0; }
constexpr std::size_t shortened(call, std::size_t size) noexcept { return size; }
#endif

}  // namespace eddy::kernel
