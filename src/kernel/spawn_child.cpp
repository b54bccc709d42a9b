// SPDX-License-Identifier: Apache-2.0

// Turns a fresh child into the program to execute, with raw system calls only.
#include "kernel/spawn_child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// The kernel's own forms of a signal set and an action. glibc hides the signals 32 and 33.
using signal_mask = std::uint64_t;
struct signal_action {
    unsigned long handler;
    unsigned long flags;
    unsigned long restorer;
    signal_mask mask;
};
constexpr int last_signal = 64;
constexpr unsigned long is_default = 0;
constexpr unsigned long is_ignored = 1;

/// Resets handlers before exec, because no handler of the parent may run in the child, which shares
/// the parent's memory.
EDDY_IN_CHILD void reset_dispositions(bool keep_ignored) noexcept {
    for (int signal = 1; signal <= last_signal; ++signal) {
        signal_action action{};
        ::syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
        if (action.handler == is_default || (action.handler == is_ignored && keep_ignored)) {
            continue;
        }
        action = {};
        ::syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
    }
}

EDDY_IN_CHILD bool is_target(const spawn_plan& plan, int fd) noexcept {
    for (const fd_placement& one : plan.fds) {
        if (one.target == fd) {
            return true;
        }
    }
    return false;
}

/// Places the fds. First moves away every source whose number is also a target, so that no source
/// is overwritten before it is used.
EDDY_IN_CHILD bool place_fds(const spawn_plan& plan) noexcept {
    const int free_from = plan.fds.empty() ? 0 : plan.fds.back().target + 1;
    for (fd_placement& one : plan.fds) {
        if (one.source != one.target && is_target(plan, one.source)) {
            const long moved = ::syscall(SYS_fcntl, one.source, F_DUPFD_CLOEXEC, free_from);
            if (moved < 0) {
                return false;
            }
            one.source = static_cast<int>(moved);
        }
    }
    for (const fd_placement& one : plan.fds) {
        const long placed = one.source == one.target
                                ? ::syscall(SYS_fcntl, one.source, F_SETFD, 0)
                                : ::syscall(SYS_dup3, one.source, one.target, 0);
        if (placed < 0) {
            return false;
        }
    }
    return true;
}

/// Sets CLOEXEC on other fds, which other code may have opened without it. Kernels before 5.11
/// cannot do that, and the program inherits those fds.
EDDY_IN_CHILD void hide_other_fds(const spawn_plan& plan) noexcept {
    unsigned first = 3;
    for (const fd_placement& one : plan.fds) {
        const auto target = static_cast<unsigned>(one.target);
        if (target > first) {
            ::syscall(SYS_close_range, first, target - 1, CLOSE_RANGE_CLOEXEC);
        }
        if (target >= first) {
            first = target + 1;
        }
    }
    ::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC);
}

EDDY_IN_CHILD bool set_limits(const spawn_plan& plan) noexcept {
    for (const limit_setting& one : plan.limits) {
        if (::syscall(SYS_prlimit64, 0, one.resource, &one.limit, nullptr) != 0) {
            return false;
        }
    }
    return true;
}

/// Tries the paths in order, like a search along PATH. A file without permission to execute is
/// reported only if no later path works.
EDDY_IN_CHILD int execute(const spawn_plan& plan) noexcept {
    char* const* const environment = plan.environment != nullptr ? plan.environment : ::environ;
    int denied = 0;
    for (const char* const* path = plan.paths; *path != nullptr; ++path) {
        ::syscall(SYS_execve, *path, plan.arguments, environment);
        if (errno == EACCES) {
            denied = EACCES;
        } else if (errno != ENOENT && errno != ENOTDIR) {
            return errno;
        }
    }
    return denied != 0 ? denied : errno;
}

/// Returns the step that failed, with errno set.
EDDY_IN_CHILD spawn_step become(const spawn_plan& plan) noexcept {
    reset_dispositions(plan.keep_ignored);
    if (plan.session && ::syscall(SYS_setsid) < 0) {
        return spawn_step::session;
    }
    if (plan.process_group >= 0 && ::syscall(SYS_setpgid, 0, plan.process_group) != 0) {
        return spawn_step::process_group;
    }
    if (!place_fds(plan)) {
        return spawn_step::descriptors;
    }
    // Limits and groups come before the user, because they may need the parent's rights.
    if (!set_limits(plan)) {
        return spawn_step::limits;
    }
    if (plan.set_groups && ::syscall(SYS_setgroups, plan.groups.size(), plan.groups.data()) != 0) {
        return spawn_step::groups;
    }
    if (plan.group >= 0 && ::syscall(SYS_setresgid, plan.group, plan.group, plan.group) != 0) {
        return spawn_step::group;
    }
    if (plan.user >= 0 && ::syscall(SYS_setresuid, plan.user, plan.user, plan.user) != 0) {
        return spawn_step::user;
    }
    // The directory is entered with the new user's rights.
    if (plan.directory != nullptr && ::syscall(SYS_chdir, plan.directory) != 0) {
        return spawn_step::directory;
    }
    if (!plan.keep_other_fds) {
        hide_other_fds(plan);
    }
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &plan.mask, nullptr, sizeof plan.mask);
    errno = execute(plan);
    return spawn_step::execute;
}

}  // namespace

EDDY_IN_CHILD int child_main(void* argument) {
    auto& job = *static_cast<child_job*>(argument);
    job.step = become(*job.plan);
    job.error = errno;
    ::syscall(SYS_exit_group, 127);
    return 127;
}

}  // namespace eddy::kernel
