// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::kernel {

/// The calls that tests can make fail.
enum class call : std::uint8_t {
    read,
    write,
    recv,
    send,  ///< sendfile too
    accept,
    connect,
    open,
    close,  ///< the fd is closed all the same
    fsync,
    socket,  ///< socketpair too
    pipe,
    bind,
    listen,
    shutdown,
    getsockname,
    getpeername,
    setsockopt,
    getsockopt,
    fstat,
    stat,  ///< by name
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
    pidfd_signal_group,  ///< no call: says that the kernel lacks the flag
    pidfd_info,          ///< the kernel has forgotten how the process ended, or never knew
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
    thread,  ///< its start
    thread_join,
    getid,                ///< getpid, gettid
    uring_receive_limit,  ///< no call: what the kernel is asked for is made invalid
    rwf_nosignal,         ///< no call: says that the kernel lacks the flag
    epoll_pwait2,         ///< no call: says that the kernel lacks it; epoll_wait is made instead
    count_,
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint64_t calls;
}

/// How many syscalls this thread has made through this room.
inline std::uint64_t calls_made() noexcept { return detail::calls; }

/// The next `times` calls after `skip` more of that kind fail with `error` instead of being made.
/// An operation that is submitted to io_uring counts as the call that it stands for; it ends with
/// the error if the kernel can be asked for that (uring_faults::can_inject_results()).
/// Does nothing in a library that was built without EDDY_FAULTS.
/// Thread: any; meant for tests, before or between what they test.
void fail(call which, int error, unsigned skip = 0, unsigned times = 1) noexcept;

/// The next `times` transfers of more than `to` bytes after `skip` more such move only `to` bytes.
/// Of several vectors only the first one with bytes is used. A message that io_uring receives with
/// a name or with control data stays whole. Linux ends no transfer of a TCP socket or a write to a
/// pipe early while there is more to move, and epoll relies on that. Does nothing in a library that
/// was built without EDDY_FAULTS. Thread: any; meant for tests, before or between what they test.
void shorten(call which, std::size_t to, unsigned skip = 0, unsigned times = 1) noexcept;

/// Ends all that was asked for by fail() and shorten(), and sets fired() back.
void fail_nothing() noexcept;

/// How many calls have failed or were shortened because a test asked for it.
std::uint64_t fired() noexcept;
/// How many calls of that kind have.
std::uint64_t fired(call which) noexcept;

#ifdef EDDY_FAULTS
/// False: injected() and shortened() ask for nothing.
bool faults_are_planned() noexcept;
/// 0, or the error that the call is to fail with.
int injected(call which) noexcept;
/// `size`, or the smaller one that a test asked for.
std::size_t shortened(call which, std::size_t size) noexcept;

/// While one exists, no call of its thread fails or is shortened: its calls are not those that a
/// test has planned a fault for.
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
