#include "kernel/call.hpp"
#include "kernel/fork_mark.hpp"
#include "kernel/own_fd.hpp"
#include "kernel/process.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// What runs in the child, on the parent's memory while the calling thread of the parent stands
/// still: sanitizers would book it to that thread, and its frames are never left.
#define EDDY_IN_CHILD [[gnu::no_sanitize_thread, gnu::no_sanitize_address]]

#if defined(__SANITIZE_THREAD__)
/// clone() by its other name. TSan's own clone() takes a child on the same memory for a fork, and
/// stops watching the locks of the thread that called it: every later one looks like a race.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);
#define EDDY_CLONE ::__clone
#else
#define EDDY_CLONE ::clone
#endif

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

void exchange_mask(signal_mask wanted, signal_mask* old) noexcept {
    count_call();
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &wanted, old, sizeof wanted);
}

struct child_job {
    const spawn_plan* plan;
    /// Written by the child, read by the parent after the child has left its memory.
    int error = 0;
    spawn_step step = spawn_step::none;
};

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

EDDY_IN_CHILD int child_main(void* argument) {
    auto& job = *static_cast<child_job*>(argument);
    job.step = become(*job.plan);
    job.error = errno;
    ::syscall(SYS_exit_group, 127);
    return 127;
}

/// When the child becomes another user or group, the kernel marks the memory that it shares with
/// the parent as not to be dumped: the parent would leave no core file any more. The mark is taken
/// back only when the child has left, because until then it keeps the new user from looking into
/// it.
class keep_dumpable {
public:
    explicit keep_dumpable(const spawn_plan& plan) : needed_(plan.user >= 0 || plan.group >= 0) {
        if (needed_) {
            lock();
            count_call();
            before_ = ::prctl(PR_GET_DUMPABLE);
        }
    }
    ~keep_dumpable() {
        if (before_ == 1) {
            count_call();
            ::prctl(PR_SET_DUMPABLE, before_);
        }
        if (needed_) {
            // release: pairs with lock().
            holder.store(0, std::memory_order_release);
            holder.notify_one();
        }
    }
    keep_dumpable(const keep_dumpable&) = delete;
    keep_dumpable& operator=(const keep_dumpable&) = delete;

private:
    /// A thread of the parent holds nothing here: in the child after fork() it does not exist.
    static void lock() noexcept {
        const std::uint64_t mine = process_mark();
        std::uint64_t before = 0;
        // acquire: pairs with the destructor: the mark has been taken back.
        while (!holder.compare_exchange_weak(before, mine, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
            if (before == mine) {
                holder.wait(before, std::memory_order_relaxed);
                before = 0;
            }
        }
    }

    static inline constinit std::atomic<std::uint64_t> holder{0};  ///< the process's mark, or 0
    bool needed_;
    int before_ = 0;
};

void reap_failed(int pidfd) noexcept {
    siginfo_t info{};
    count_call();
    while (::syscall(SYS_waitid, 3, pidfd, &info, WEXITED | __WALL, nullptr) != 0 &&
           errno == EINTR) {}
}

}  // namespace

std::error_code spawn(const spawn_plan& plan, spawned& out, spawn_step& failed) noexcept {
    child_job job{.plan = &plan};
    int pidfd = -1;
    signal_mask old = 0;
    failed = spawn_step::clone;
    if (const int error = injected(call::clone)) {
        return {error, std::system_category()};
    }
    const keep_dumpable keep(plan);
    exchange_mask(~signal_mask{0}, &old);
    count_call();
    const pid_t pid = EDDY_CLONE(&child_main, plan.stack.data() + plan.stack.size(),
                                 CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &job, &pidfd);
    const int clone_error = errno;
    exchange_mask(old, nullptr);
    if (pid < 0) {
        return {clone_error, std::system_category()};
    }
    out.pidfd.reset(pidfd);
    out.pid = pid;
    failed = job.step;
    if (job.step == spawn_step::none) {
        // Nothing may fail any more: where no other fd is left it stays there.
        static_cast<void>(move_from_standard(out.pidfd));
        return {};
    }
    reap_failed(pidfd);
    out.pidfd.reset();
    return {job.error, std::system_category()};
}

}  // namespace eddy::kernel
