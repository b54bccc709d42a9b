// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/child_wait.hpp>

#include <memory>
#include <system_error>

namespace eddy {

struct child_source_options {
    /// Shown in lists of live operations. Must live as long as the source.
    const char* name = "children";
    /// If true, waits do not keep run_mode::empty, run_one() and run_some() going.
    bool background = false;
};

/// Reports events of children that only SIGCHLD announces: the ends of children that nobody
/// watches, for programs like init, and stops and continuations. To watch for the end of one
/// process, use its process_handle, which needs none of this.
///
///     block_signals(SIGCHLD);         // in main(), before threads start
///     child_source children(loop);
///     child_event event = co_await wait_any_child(children);
///
/// **Making one is an opt-in for the whole process.** SIGCHLD must be blocked in all threads. The
/// constructor checks this, as far as /proc tells, and it must hold from then on: a thread that
/// does not block SIGCHLD gets it instead. eddy then reads SIGCHLD: a signal_source for it still
/// gets it, on any loop, made earlier or later; other signalfds and sigwait() do not.
///
/// Any number of loops may have a child_source; the one that reads the signal notifies all others.
/// A child of a process_handle of any loop is reported to that handle alone. All other children go
/// to one waiter each, including children that other code has forked and means to wait for. To
/// adopt a child that was forked by hand, do so before anybody waits for any child, or on the
/// thread that waits. While nobody waits, no child is reaped.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop. After fork()
/// the child's copy is of no use: its waits end with other operations of the loop; make a new
/// source.
class EDDY_API child_source {
public:
    /// Throws std::system_error:
    /// - errc::signal_not_blocked: a thread of this process does not block SIGCHLD
    /// - errc::signal_ignored: SIGCHLD is ignored, so the kernel discards statuses
    /// - errc::children_hidden: SIGCHLD has SA_NOCLDSTOP or SA_NOCLDWAIT
    /// - no memory, no fds
    explicit child_source(loop& home, child_source_options options = {});
    /// Ends pending waits with `operation_canceled`, from inside this call.
    ~child_source();
    child_source(const child_source&) = delete;
    child_source& operator=(const child_source&) = delete;

    loop& home() const noexcept { return home_; }

    /// Starts `w`, which completes with the end of one child that nobody watches, even if it ended
    /// before this call; never from inside this call. errc::forked if the source is the parent's.
    [[nodiscard]] std::error_code wait_any(child_wait& w) noexcept;
    /// Starts `w`, which completes with the next stop, continuation or end of a child of this loop.
    /// If nobody was told of the last change before, `w` completes with that one. The kernel keeps
    /// one change per child: a stop that is followed by a continuation before anybody looks is
    /// lost. All waiters are told, and other waits for the end still get it. Until completion `w`
    /// counts as a handle of the process. Errors: errc::process_not_child, errc::forked,
    /// `bad_file_descriptor` if the handle is empty.
    [[nodiscard]] std::error_code wait_change(child_wait& w,
                                              const process_handle& process) noexcept {
        return wait_change(w, process.state());
    }
    /// An overload for senders, which keep the state of a process instead of a handle.
    [[nodiscard]] std::error_code wait_change(
        child_wait& w, const std::shared_ptr<detail::process_state>& process) noexcept;

private:
    /// The members that the loop refers to.
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
