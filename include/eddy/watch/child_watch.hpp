// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/watch/watch.hpp>

#include <system_error>

namespace eddy {

/// Calls back when a process has ended, with its status and the resources that it used.
///
///     child_watch w(loop, {.program = "make"}, &on_end);
///
/// A watch has one process at a time, and reports each end once, while it is armed: an end that
/// comes while it is disarmed is reported when it is armed. spawn() and adopt() give the watch
/// another process, also from inside its callback: that is how a program is restarted.
///
/// Several watches, waits and handles on one loop may have the same process, and all are notified.
/// A process that belongs to another loop is refused.
///
/// Reactions: `rearm` and `again` arm the watch for the process that it has got in the callback, or
/// gets later; `requeue` repeats the call with the same status; the others are as usual.
///
/// Thread: the loop's, except what watch marks "any". Only a watch that waits for a process keeps
/// run_mode::empty going.
class EDDY_API child_watch : public watch {
public:
    using callback = reaction (*)(child_watch&, const exit_status&) noexcept;
    using removed_callback = void (*)(child_watch&) noexcept;

    /// Begins without a process.
    child_watch(loop& home, callback on_end, removed_callback on_removed = nullptr,
                const watch_options& options = {});
    /// Spawns a process. Throws std::system_error; see process_handle::spawn().
    child_watch(loop& home, const process_options& what, callback on_end,
                removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Watches a process that exists, child or not. Throws std::system_error; see
    /// process_handle::adopt().
    child_watch(loop& home, pid_t pid, callback on_end, removed_callback on_removed = nullptr,
                const watch_options& options = {});
    /// Watches the process of a handle of this loop.
    child_watch(loop& home, process_handle process, callback on_end,
                removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Closes the process handle.
    ~child_watch() override;

    /// Spawns a process to replace the current one, whose handle is closed. On error it is kept.
    std::error_code spawn(const process_options& what, spawn_step* failed = nullptr) noexcept;
    /// Watches process `pid` in place of the current one, whose handle is closed except on error.
    std::error_code adopt(pid_t pid) noexcept;
    /// Does every step of a spawn that can fail in this process. After that, spawn() without
    /// options allocates nothing. It fails only if the kernel cannot make the process, or the
    /// process cannot execute: then there is no new process, and the reservation is used up.
    std::error_code reserve(const process_options& what, spawn_step* failed = nullptr) noexcept;
    /// Spawns what reserve() has prepared. `invalid_argument` if nothing is reserved.
    std::error_code spawn(spawn_step* failed = nullptr) noexcept;

    /// The current process: its pid, its pipes, sending signals. Closed right before on_removed.
    process_handle& process() noexcept { return process_; }
    /// Inside the callback: `no_child_process` if other code has taken the status and the kernel
    /// does not keep it.
    std::error_code error() const noexcept { return error_; }

private:
    reaction call() noexcept final;
    void start(arming how) noexcept final;
    void stop() noexcept final;
    bool quiet() const noexcept final { return !wait_.pending(); }
    void reprioritise(priority_level priority) noexcept final { move(wait_, priority); }
    void removed() noexcept final;
    void on_event(io_result result) noexcept;
    void take(process_handle fresh) noexcept;

    io_operation wait_;
    process_handle process_;
    process_reservation reserved_;
    callback on_end_;
    removed_callback on_removed_;
    exit_status status_;
    std::error_code error_;
    bool told_ = false;   ///< the end of the current process was reported
    bool stale_ = false;  ///< the next completion of `wait_` is out of date
};

}  // namespace eddy
