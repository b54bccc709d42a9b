// SPDX-License-Identifier: Apache-2.0

// Opens, signals and reaps processes through their pidfds.
#include "kernel/process.hpp"

#include "kernel/once.hpp"
#include "kernel/own_fd.hpp"
#include "kernel/retried.hpp"

#include <cerrno>
#include <csignal>

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

std::error_code system_error(int error) noexcept { return {error, std::system_category()}; }

constexpr idtype_t by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD

/// Converts the status of waitid() to the form of wait().
int wait_status_of(const siginfo_t& info) noexcept {
    switch (info.si_code) {
        case CLD_EXITED:
            return (info.si_status & 0xff) << 8;
        case CLD_DUMPED:
            return (info.si_status & 0x7f) | 0x80;
        default:
            return info.si_status & 0x7f;
    }
}

/// Asks without waiting. `operation_would_block` if no child has a matching change.
std::error_code wait_now(idtype_t by, int id, int what, siginfo_t& info, rusage* usage) noexcept {
    // The raw call, because glibc's waitid() does not report the usage.
    const io_result asked = retried(call::waitid, [&] {
        return ::syscall(SYS_waitid, by, id, &info, what | WNOHANG | __WALL, usage);
    });
    if (!asked) {
        return asked.error();
    }
    return info.si_pid == 0 ? system_error(EAGAIN) : std::error_code();
}

std::error_code send_signal(int pidfd, int signal, unsigned flags) noexcept {
    return once(call::pidfd_send_signal,
                [&] { return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags); })
        .error();
}

std::error_code reap(idtype_t by, int id, process_end& out) noexcept {
    siginfo_t info{};
    if (auto error = wait_now(by, id, WEXITED, info, &out.usage)) {
        return error;
    }
    out.wait_status = wait_status_of(info);
    out.has_usage = true;
    return {};
}

/// The kernel's struct pidfd_info, which the build's headers lack.
struct pidfd_info {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::uint32_t ids[11];
    std::int32_t exit_code;
};
static_assert(sizeof(pidfd_info) == 64);
constexpr std::uint64_t info_exit = 1U << 3;
constexpr unsigned long get_info = _IOWR(0xFF, 11, pidfd_info);

}  // namespace

std::error_code open_pidfd(pid_t pid, unique_fd& out) noexcept {
    return keep_own(once(call::pidfd_open, [&] { return ::syscall(SYS_pidfd_open, pid, 0); }), out);
}

std::error_code signal_pidfd(int pidfd, int signal) noexcept {
    return send_signal(pidfd, signal, 0);
}

std::error_code signal_group(int pidfd, pid_t leader, int signal) noexcept {
    constexpr unsigned process_group = 1U << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9
    const std::error_code error = injected(call::pidfd_signal_group) != 0
                                      ? system_error(EINVAL)
                                      : send_signal(pidfd, signal, process_group);
    if (error != std::errc::invalid_argument || leader <= 0) {
        return error;
    }
    // A leader that was not reaped keeps its number. Errors other than ESRCH, such as EPERM, say
    // that the leader exists.
    if (send_signal(pidfd, 0, 0) == std::errc::no_such_process) {
        return system_error(ESRCH);
    }
    return once(call::kill, [&] { return ::kill(-leader, signal); }).error();
}

std::error_code reap(int pidfd, process_end& out) noexcept { return reap(by_pidfd, pidfd, out); }

std::error_code reap_pid(pid_t pid, process_end& out) noexcept { return reap(P_PID, pid, out); }

std::error_code find_ended(pid_t& out) noexcept {
    siginfo_t info{};
    const auto error = wait_now(P_ALL, 0, WEXITED | WNOWAIT, info, nullptr);
    out = info.si_pid;
    return error == std::errc::no_child_process ? system_error(EAGAIN) : error;
}

std::error_code take_change(int pidfd, int& stopped_by) noexcept {
    siginfo_t info{};
    const auto error = wait_now(by_pidfd, pidfd, WSTOPPED | WCONTINUED, info, nullptr);
    stopped_by = info.si_code == CLD_CONTINUED ? 0 : info.si_status;
    return error;
}

bool is_child(int pidfd) noexcept {
    siginfo_t info{};
    const auto error = wait_now(by_pidfd, pidfd, WEXITED | WNOWAIT, info, nullptr);
    return !error || error == std::errc::operation_would_block;
}

std::error_code recall_end(int pidfd, process_end& out) noexcept {
    pidfd_info info{};
    info.mask = info_exit;
    const io_result asked = once(call::pidfd_info, [&] { return ::ioctl(pidfd, get_info, &info); });
    if (!asked || (info.mask & info_exit) == 0) {
        return system_error(ECHILD);
    }
    out.wait_status = info.exit_code;
    out.has_usage = false;
    return {};
}

}  // namespace eddy::kernel
