#pragma once

#include <eddy/base/unique_fd.hpp>

#include <csignal>
#include <system_error>

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
std::error_code set_default_disposition(int signum) noexcept;

/// Non-blocking, CLOEXEC. It is read with read(), one signalfd_siginfo at a time.
std::error_code make_signalfd(const sigset_t& signals, unique_fd& out) noexcept;

}  // namespace eddy::kernel
