// SPDX-License-Identifier: Apache-2.0

// Makes processes, and asks about them through their pidfds.
#pragma once

#include <eddy/base/spawn_step.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cstdint>
#include <span>
#include <system_error>

#include <sys/resource.h>
#include <sys/types.h>

namespace eddy::kernel {

/// The child gets `source`, an fd of the parent, as `target`.
struct fd_placement {
    int source;
    int target;
};

struct limit_setting {
    int resource;
    rlimit limit;
};

/// Everything that the child needs. The parent prepares it, because the child must not allocate.
struct spawn_plan {
    const char* const* paths = nullptr;  ///< tried in order; ends with null
    char* const* arguments = nullptr;
    char* const* environment = nullptr;  ///< null: the parent's at that time
    const char* directory = nullptr;     ///< null: the parent's
    /// Sorted by target, each target once. The child writes into it.
    std::span<fd_placement> fds;
    bool keep_other_fds = false;
    std::span<const limit_setting> limits;
    bool session = false;
    pid_t process_group = -1;  ///< -1: the parent's; 0: a new one
    bool set_groups = false;
    std::span<const gid_t> groups;
    std::int64_t group = -1;  ///< -1: the parent's
    std::int64_t user = -1;
    std::uint64_t mask = 0;  ///< the signals that the program starts with blocked
    bool keep_ignored = false;
    std::span<std::byte> stack;  ///< `child_stack_size` bytes
};

inline constexpr std::size_t child_stack_size = std::size_t{64} * 1024;

struct spawned {
    pid_t pid = -1;
    unique_fd pidfd;  ///< CLOEXEC
};

/// Starts a program. Returns when the program runs or could not be started; after a failure nothing
/// is left of the child. The cost does not depend on the parent's size.
/// Thread: any.
std::error_code spawn(const spawn_plan& plan, spawned& out, spawn_step& failed) noexcept;

std::error_code open_pidfd(pid_t pid, unique_fd& out) noexcept;
/// Sends a signal. `signal` 0 only asks if the process exists. `no_such_process` if it was reaped.
std::error_code signal_pidfd(int pidfd, int signal) noexcept;

/// Signals all processes of the group that the process leads or has led. Kernels before 6.9 know
/// the group only by its number, `leader`. If the leader has been reaped, another group may have
/// that number by now, and the error is `no_such_process`. A `leader` of -1 means that there is no
/// safe number: the error is `invalid_argument`.
std::error_code signal_group(int pidfd, pid_t leader, int signal) noexcept;

/// How a process ended.
struct process_end {
    int wait_status = 0;  ///< for WIFEXITED and the like
    bool has_usage = false;
    rusage usage{};
};

/// Reaps a child through its pidfd. `operation_would_block`: the child has not ended.
/// `no_child_process`: the process is not a child, or others have reaped it.
std::error_code reap(int pidfd, process_end& out) noexcept;
/// Finds any child that has ended and was not reaped. `operation_would_block`: there is none.
std::error_code find_ended(pid_t& out) noexcept;
/// Reaps a child by its pid, with the errors of reap().
std::error_code reap_pid(pid_t pid, process_end& out) noexcept;
/// Takes the latest unreported stop (its signal) or continuation (0) of a child.
/// `operation_would_block`: there is none. `no_child_process`: not a child, or gone.
std::error_code take_change(int pidfd, int& stopped_by) noexcept;
/// True also for a child that has ended and waits to be reaped.
bool is_child(int pidfd) noexcept;
/// Finds how a process ended that was reaped, whoever reaped it (Linux 6.15 and later).
/// `no_child_process` if the kernel does not know.
std::error_code recall_end(int pidfd, process_end& out) noexcept;

}  // namespace eddy::kernel
