// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/child_wait.hpp>

#include <memory>
#include <system_error>

namespace eddy {

struct child_source_options {
    /// For lists of what is going on. Must live as long as the source.
    const char* name = "children";
    /// Waits do not keep run_mode::empty, run_one() and run_some() going.
    bool background = false;
};

/// What only SIGCHLD can tell: the end of children that nobody watches, for programs like init, and
/// stops and continuations. The end of one process is better watched by its process_handle, which
/// needs none of this.
///
///     block_signals(SIGCHLD);         // in main(), before threads start
///     child_source children(loop);
///     child_event event = co_await wait_any_child(children);
///
/// **Making one is an opt-in for the whole process.** SIGCHLD must be blocked in all threads, which
/// is checked once, here, as far as /proc tells, and must hold from then on: a thread that does not
/// block it gets it instead. From then on eddy reads SIGCHLD: a signal_source that has it, on
/// whatever loop, before or after, still gets it, but other signalfds and sigwait() do not.
///
/// Any number of loops may have one; whichever reads the signal tells all others. A child that a
/// process_handle of any loop has is told to that alone. All other children, also those that other
/// code has forked and means to wait for, go to one each of those who wait for any; a child that
/// was forked by hand and is to be adopted has to be adopted before, or by, the same thread. As
/// long as nobody waits, nobody is reaped.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop. After fork()
/// the child's is of no use: its waits end with the rest of the loop's; make a new one.
class EDDY_API child_source {
public:
    /// Throws std::system_error:
    /// - errc::signal_not_blocked: in all threads of this process
    /// - errc::signal_ignored: the kernel throws the statuses away
    /// - errc::children_hidden: SA_NOCLDSTOP or SA_NOCLDWAIT
    /// - no memory, no fds
    explicit child_source(loop& home, child_source_options options = {});
    /// Waits that are pending end with `operation_canceled`, from inside this call.
    ~child_source();
    child_source(const child_source&) = delete;
    child_source& operator=(const child_source&) = delete;

    loop& home() const noexcept { return home_; }

    /// Starts `w`: completes with the end of one child that nobody watches, also one that has ended
    /// before; never from inside this call. errc::forked: the source is the parent's.
    [[nodiscard]] std::error_code wait_any(child_wait& w) noexcept;
    /// Starts `w`: completes with the next stop, continuation or end of this child, of this loop;
    /// or with the last one before that nobody was told. The kernel keeps one for each child: a
    /// stop that is followed by a continuation before anybody looks is not told. Everybody who
    /// waits is told, and the end is not taken from those who wait for it elsewhere. Until it has
    /// completed it is as good as a handle of the process. errc::process_not_child;
    /// `bad_file_descriptor`: the handle is empty.
    [[nodiscard]] std::error_code wait_change(child_wait& w,
                                              const process_handle& process) noexcept {
        return wait_change(w, process.state());
    }
    /// For senders.
    [[nodiscard]] std::error_code wait_change(
        child_wait& w, const std::shared_ptr<detail::process_state>& process) noexcept;

private:
    /// What the loop knows of it.
    struct parts;

    std::error_code begin(child_wait& w) noexcept;
    child_wait* next() const noexcept;
    void look_now() noexcept;
    bool has_news(child_wait& w, bool& asked_for_any) noexcept;
    void deliver(child_wait& w) noexcept;
    void no_longer_wanted() noexcept;
    void moved(const child_wait& w) noexcept;
    void end_waits(std::error_code error, bool loop_ends) noexcept;

    loop& home_;
    detail::source_waits<child_wait> waits_;
    std::unique_ptr<parts> parts_;

    friend class child_wait;
};

}  // namespace eddy
