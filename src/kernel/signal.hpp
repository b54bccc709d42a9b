// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>

#include <csignal>
#include <system_error>

#include <sys/signalfd.h>
#include <sys/types.h>

/// Masks, dispositions and signalfds. Masks are those of the calling thread.
namespace eddy::kernel {

/// The first call in this process keeps the mask as it was before, for original_mask().
std::error_code block_signals(const sigset_t& signals) noexcept;
std::error_code unblock_signals(const sigset_t& signals) noexcept;
sigset_t signal_mask() noexcept;
/// As it was before the first block_signals(); as it is if there was none. Thread: any.
sigset_t original_mask() noexcept;

/// False as well if there is no such signal.
bool is_ignored(int signum) noexcept;
/// Whether SIGCHLD is set not to come for stops (SA_NOCLDSTOP), or not to leave statuses
/// (SA_NOCLDWAIT).
bool hides_children() noexcept;
/// In every thread of this process, as far as /proc tells.
bool is_blocked_everywhere(int signum) noexcept;

struct thread_identity {
    pid_t id = 0;
    char name[16] = "";
};
/// The first thread of this process that does not block the signal, as far as /proc tells; id 0 if
/// there is none.
thread_identity thread_not_blocking(int signum) noexcept;

std::error_code set_default_disposition(int signum) noexcept;

/// Sends the process a signal again that was read, as it was.
void put_back(const signalfd_siginfo& record) noexcept;

/// Non-blocking, CLOEXEC. It is read with read(), one signalfd_siginfo at a time.
std::error_code make_signalfd(const sigset_t& signals, unique_fd& out) noexcept;

}  // namespace eddy::kernel
