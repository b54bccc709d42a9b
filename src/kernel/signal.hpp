// SPDX-License-Identifier: Apache-2.0

// Signal masks, dispositions and signalfds. Masks are those of the calling thread.
#pragma once

#include <eddy/base/unique_fd.hpp>

#include <csignal>
#include <system_error>

#include <sys/signalfd.h>
#include <sys/types.h>

namespace eddy::kernel {

/// Blocks signals. The first call in the process saves the previous mask for original_mask().
std::error_code block_signals(const sigset_t& signals) noexcept;
std::error_code unblock_signals(const sigset_t& signals) noexcept;
sigset_t signal_mask() noexcept;
/// The mask before the first block_signals(), or the current mask if there was no such call.
/// Thread: any.
sigset_t original_mask() noexcept;

/// True if the signal is ignored. False if there is no such signal.
bool is_ignored(int signum) noexcept;
/// True if SIGCHLD does not report stops (SA_NOCLDSTOP) or leaves no exit statuses (SA_NOCLDWAIT).
bool hides_children() noexcept;
/// True if every thread of this process blocks the signal, as far as /proc tells.
bool is_blocked_everywhere(int signum) noexcept;

struct thread_identity {
    pid_t id = 0;
    char name[16] = "";
};
/// The first thread of this process that does not block the signal, as far as /proc tells. The id
/// is 0 if there is none.
thread_identity thread_not_blocking(int signum) noexcept;

std::error_code set_default_disposition(int signum) noexcept;

/// Sends this process again, unchanged, a signal that was read.
void put_back(const signalfd_siginfo& record) noexcept;

/// Makes a non-blocking, CLOEXEC signalfd. read() takes one signalfd_siginfo at a time from it.
std::error_code make_signalfd(const sigset_t& signals, unique_fd& out) noexcept;

}  // namespace eddy::kernel
