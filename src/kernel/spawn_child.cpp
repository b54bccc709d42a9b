// SPDX-License-Identifier: Apache-2.0
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

/// The kernel's own form of a signal set and an action; glibc hides the signals 32 and 33.
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

/// No handler of the parent's may run in the child, which shares its memory: exec would be too
/// late.
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

/// What would be overwritten before it is read is moved out of the way first.
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

/// Others may have opened fds without CLOEXEC. Kernels before 5.11 cannot do this: there they are
/// inherited.
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

/// Tries one path after the other, as a search does: one that may not be executed is told only if
/// there is no other.
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

/// The step that failed, with errno set.
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
    // Before the user is changed: what follows may need the parent's rights.
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
    // With the new user's rights.
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
