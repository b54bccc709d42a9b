// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/signal_set.hpp>
#include <eddy/os/signal_wait.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <system_error>

namespace eddy {

struct signal_source_options {
    /// Shown in lists of live operations. Must live as long as the source.
    const char* name = "signal";
    /// If true, waits do not keep run_mode::empty, run_one() and run_some() going.
    bool background = false;
    /// Makes ignored signals an error (errc::signal_ignored). By default they stay ignored.
    bool strict = false;
};

enum class mask_after : std::uint8_t {
    /// The mask stays: signals that are pending, or come later, stay in the kernel.
    blocked,
    /// The calling thread's mask is restored to that before block_signals(). Pending signals are
    /// delivered, and may kill the process.
    restored,
};

/// Receives signals of this process on a loop. Each signal has one owner in the process: a second
/// source for it, on any loop, is refused.
///
///     block_signals({SIGHUP, SIGUSR1});   // in main(), before threads start
///     signal_source signals(loop, {SIGHUP, SIGUSR1});
///     signal_info info = co_await wait_signal(signals, SIGHUP);
///
/// Nothing is read ahead: signals stay in the kernel until a waiter for them is about to run. A
/// signal that was pending before the wait is delivered. A standard signal (below SIGRTMIN) that
/// comes again before it was delivered is one signal: the waiter learns that it came at least once
/// since the last wait. Real-time signals are queued in order, each with its value, up to a limit
/// of the sender's user (RLIMIT_SIGPENDING).
///
/// Only signals to the process arrive, as kill() and sigqueue() send them. A signal to a thread
/// (pthread_kill, tgkill) can be read by that thread alone, so it arrives only if that thread is
/// the loop's. SIGCHLD coalesces too: to reap, look for every child, not for info.pid.
///
/// An ignored signal (SIG_IGN) stays ignored, as the starter of the process wanted: nohup ignores
/// SIGHUP, and a shell script ignores SIGINT for a program that it starts with `&`. A wait for an
/// ignored signal is accepted but never completes with that signal, so a program that waits for
/// SIGINT or SIGTERM works however it was started. `strict` makes ignored signals an error.
///
/// After fork() with after_fork_in_child(), the child's source gets the child's signals. Waits that
/// were pending end as for a loop that ends.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop.
class EDDY_API signal_source {
public:
    /// Makes a source without signals.
    explicit signal_source(loop& home, signal_source_options options = {}) noexcept;
    /// Makes a source and calls attach_or_throw().
    signal_source(loop& home, signal_set signals, signal_source_options options = {});
    /// Calls detach().
    ~signal_source();
    signal_source(const signal_source&) = delete;
    signal_source& operator=(const signal_source&) = delete;

    /// Adds all of `signals`, or none if that fails. Signals that it has already are no error.
    /// - errc::signal_not_waitable: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSTOP
    /// - errc::signal_not_blocked: the calling thread does not block it. A build without NDEBUG
    ///   also looks at the other threads, and reports the first that does not block the signal.
    /// - errc::signal_ignored: its disposition is SIG_IGN, and the source is strict
    /// - errc::signal_has_owner: another source of this process has it
    /// - no memory, no fds
    [[nodiscard]] std::error_code attach(signal_set signals) noexcept;
    /// Adds signals as attach() does. Throws std::system_error, which names the signal.
    void attach_or_throw(signal_set signals);
    /// Removes those of `signals` that the source has. Waits for any of them end with
    /// `operation_canceled`, from inside this call. Pending signals stay in the kernel.
    void detach(signal_set signals, mask_after mask = mask_after::blocked) noexcept;
    void detach() noexcept { detach(signals_); }

    signal_set signals() const noexcept { return signals_; }
    /// Returns those of signals() that were ignored when they were attached.
    signal_set ignored() const noexcept;
    loop& home() const noexcept { return home_; }

    /// Starts `w`, which completes with the next signal of that number or set; never from inside
    /// this call. Waiters for the same signal get one each, the most urgent first, then in order of
    /// arrival. Errors, after which `w` is not started: errc::signal_not_attached,
    /// `invalid_argument` for an empty set.
    [[nodiscard]] std::error_code wait(signal_wait& w, int signum) noexcept;
    [[nodiscard]] std::error_code wait(signal_wait& w, signal_set signals) noexcept;

private:
    struct slot;
    using slot_pointer = std::unique_ptr<slot>;

    std::error_code attach(signal_set signals, int& refused) noexcept;
    std::error_code attach_one(int signum) noexcept;
    void remove(int signum) noexcept;
    slot_pointer& slot_of(int signum) noexcept {
        return slots_[static_cast<std::size_t>(signum - 1)];
    }
    signal_wait* next_for(int signum) const noexcept;
    void no_longer_wanted(signal_set signals) noexcept;
    void moved(const signal_wait& w) noexcept;
    void deliver(signal_wait& w, const signal_info& info) noexcept;
    void end_waits(signal_set signals, std::error_code error, bool loop_ends) noexcept;

    loop& home_;
    signal_source_options options_;
    signal_set signals_;
    detail::source_waits<signal_wait> waits_;
    std::array<slot_pointer, 64> slots_;

    friend class signal_wait;
};

}  // namespace eddy
