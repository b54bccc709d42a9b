// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/spawn_step.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cstdint>
#include <span>
#include <system_error>

#include <sys/resource.h>
#include <sys/types.h>

/// Making processes, and asking about them through their pidfd.
namespace eddy::kernel {

/// `source`, an fd of the parent's, is to be `target` in the child.
struct fd_placement {
    int source;
    int target;
};

struct limit_setting {
    int resource;
    rlimit limit;
};

/// All that the child needs, made before there is one: it must not allocate.
struct spawn_plan {
    const char* const* paths = nullptr;  ///< tried in this order; the last one is null
    char* const* arguments = nullptr;
    char* const* environment = nullptr;  ///< null: the parent's, as it is then
    const char* directory = nullptr;     ///< null: the parent's
    /// In the order of their targets, each target once. The child writes into it.
    std::span<fd_placement> fds;
    bool keep_other_fds = false;
    std::span<const limit_setting> limits;
    bool session = false;
    pid_t process_group = -1;  ///< -1: the parent's; 0: a new one
    bool set_groups = false;
    std::span<const gid_t> groups;
    std::int64_t group = -1;  ///< -1: the parent's
    std::int64_t user = -1;
    std::uint64_t mask = 0;  ///< the signals that are blocked in the program
    bool keep_ignored = false;
    std::span<std::byte> stack;  ///< `child_stack_size` bytes
};

inline constexpr std::size_t child_stack_size = std::size_t{64} * 1024;

struct spawned {
    pid_t pid = -1;
    unique_fd pidfd;  ///< CLOEXEC
};

/// Returns when the program runs, or could not be started: then nothing is left of the child. Costs
/// the same however large the parent is. Thread: any.
std::error_code spawn(const spawn_plan& plan, spawned& out, spawn_step& failed) noexcept;

std::error_code open_pidfd(pid_t pid, unique_fd& out) noexcept;
/// `signal` 0 only asks: `no_such_process` if it has been reaped.
std::error_code signal_pidfd(int pidfd, int signal) noexcept;

/// To all processes of the group that the process leads or has led. A kernel before 6.9 knows the
/// group by its number only, `leader`. If that process has been reaped, the number may be that of
/// another group by now, and the error is `no_such_process`. -1: there is no number that may be
/// used, and the error is `invalid_argument`.
std::error_code signal_group(int pidfd, pid_t leader, int signal) noexcept;

/// How a process ended.
struct process_end {
    int wait_status = 0;  ///< for WIFEXITED and the like
    bool has_usage = false;
    rusage usage{};
};

/// Takes the end of a child, which is gone then. `operation_would_block`: it has not ended.
/// `no_child_process`: not ours, or others took it.
std::error_code reap(int pidfd, process_end& out) noexcept;
/// A child that has ended and was not reaped, whichever. `operation_would_block`: there is none.
std::error_code find_ended(pid_t& out) noexcept;
/// As reap().
std::error_code reap_pid(pid_t pid, process_end& out) noexcept;
/// Takes what a child's last stop (its signal) or continuation (0) has left to be told.
/// `operation_would_block`: nothing. `no_child_process`: not ours, or gone.
std::error_code take_change(int pidfd, int& stopped_by) noexcept;
/// True also for one that has ended and waits to be reaped.
bool is_child(int pidfd) noexcept;
/// What the kernel keeps of a process that was reaped, by whomever (Linux 6.15 on); else
/// `no_child_process`.
std::error_code recall_end(int pidfd, process_end& out) noexcept;

}  // namespace eddy::kernel
