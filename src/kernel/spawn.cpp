// SPDX-License-Identifier: Apache-2.0

// Starts a program in a child that shares the parent's memory until it executes.
#include "kernel/fork_mark.hpp"
#include "kernel/own_fd.hpp"
#include "kernel/process.hpp"
#include "kernel/retried.hpp"
#include "kernel/spawn_child.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
/// The other name of clone(). TSan's own clone() takes a child on shared memory for a fork, and
/// stops tracking the locks of the calling thread: every later lock looks like a race.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);
#define EDDY_CLONE ::__clone
#else
#define EDDY_CLONE ::clone
#endif

namespace eddy::kernel {

namespace {

/// The kernel's own form of a signal set. glibc hides the signals 32 and 33.
using signal_mask = std::uint64_t;

/// Keeps the parent able to dump core. When the child becomes another user or group, the kernel
/// marks the shared memory as not dumpable. The destructor removes the mark only after the child
/// has left the memory: until then the mark keeps the new user from inspecting the memory.
class keep_dumpable {
public:
    explicit keep_dumpable(const spawn_plan& plan) : needed_(plan.user >= 0 || plan.group >= 0) {
        if (needed_) {
            lock();
            before_ = once(call::prctl, [] { return ::prctl(PR_GET_DUMPABLE); }).raw();
        }
    }
    ~keep_dumpable() {
        if (before_ == 1) {
            surely(call::prctl, [&] { return ::prctl(PR_SET_DUMPABLE, before_); });
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
    /// Waits only for threads of this process. A mark of the parent process is taken over: after
    /// fork() the child has none of its threads.
    static void lock() noexcept {
        const std::uint64_t mine = process_mark();
        std::uint64_t before = 0;
        // acquire: pairs with the destructor, which has removed the kernel's mark before.
        while (!holder.compare_exchange_weak(before, mine, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
            if (before == mine) {
                holder.wait(before, std::memory_order_relaxed);
                before = 0;
            }
        }
    }

    static inline constinit std::atomic<std::uint64_t> holder{0};  ///< a process_mark(), or 0
    bool needed_;
    std::int64_t before_ = 0;
};

void reap_failed(int pidfd) noexcept {
    siginfo_t info{};
    retried(call::waitid,
            [&] { return ::syscall(SYS_waitid, 3, pidfd, &info, WEXITED | __WALL, nullptr); });
}

}  // namespace

std::error_code spawn(const spawn_plan& plan, spawned& out, spawn_step& failed) noexcept {
    child_job job{.plan = &plan};
    int pidfd = -1;
    signal_mask old = 0;
    failed = spawn_step::clone;
    const keep_dumpable keep(plan);
    const signal_mask all = ~signal_mask{0};
    const io_result masked = once(call::sigmask, [&] {
        return ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    });
    if (!masked) {
        return masked.error();
    }
    const io_result pid = once(call::clone, [&] {
        return EDDY_CLONE(&child_main, plan.stack.data() + plan.stack.size(),
                          CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &job, &pidfd);
    });
    surely(call::sigmask,
           [&] { return ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, nullptr, sizeof old); });
    if (!pid) {
        return pid.error();
    }
    out.pidfd.reset(pidfd);
    out.pid = static_cast<pid_t>(pid.raw());
    failed = job.step;
    if (job.step == spawn_step::none) {
        // Nothing may fail now: if no other number is free, the pidfd stays where it is.
        static_cast<void>(move_from_standard(out.pidfd));
        return {};
    }
    reap_failed(pidfd);
    out.pidfd.reset();
    return {job.error, std::system_category()};
}

}  // namespace eddy::kernel
