// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/watch/watch.hpp>

#include <system_error>

namespace eddy {

/// Calls back when a process has ended, with its status and what it has used.
///
///     child_watch w(loop, {.program = "make"}, &on_end);
///
/// It has one process at a time, and tells each end once, while it is armed: one that comes while
/// it is disarmed is told when it is armed. spawn() and adopt() give it another process, also from
/// inside its callback, which is how something is restarted.
///
/// Several watches, waits and handles on one loop may have the same process, and all are told; a
/// process that another loop has is refused.
///
/// Reactions: `rearm` and `again` arm it for the process that it has got meanwhile, or gets later;
/// `requeue` calls it again with the same status; the others as with every watch.
///
/// Thread: the loop's, except what watch marks "any". Only one that waits for a process keeps
/// run_mode::empty going.
class EDDY_API child_watch : public watch {
public:
    using callback = reaction (*)(child_watch&, const exit_status&) noexcept;
    using removed_callback = void (*)(child_watch&) noexcept;

    /// Without a process.
    child_watch(loop& home, callback on_end, removed_callback on_removed = nullptr,
                const watch_options& options = {});
    /// Spawns. Throws std::system_error; see process_handle::spawn().
    child_watch(loop& home, const process_options& what, callback on_end,
                removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Watches a process that exists, child or not. Throws std::system_error; see
    /// process_handle::adopt().
    child_watch(loop& home, pid_t pid, callback on_end, removed_callback on_removed = nullptr,
                const watch_options& options = {});
    /// Watches the process of a handle of this loop.
    child_watch(loop& home, process_handle process, callback on_end,
                removed_callback on_removed = nullptr, const watch_options& options = {});
    /// Closes the handle.
    ~child_watch() override;

    /// These replace the process that it has, whose handle is closed; if they fail, it is kept.
    std::error_code spawn(const process_options& what, spawn_step* failed = nullptr) noexcept;
    std::error_code adopt(pid_t pid) noexcept;
    /// Does what is needed for a spawn that can fail in this process. After that, spawn() without
    /// options allocates nothing, and fails only as the kernel makes the process, or the process
    /// cannot execute: then there is none, and the reservation is used up.
    std::error_code reserve(const process_options& what, spawn_step* failed = nullptr) noexcept;
    /// `invalid_argument`: nothing is reserved.
    std::error_code spawn(spawn_step* failed = nullptr) noexcept;

    /// For its pid, its pipes, and to send signals. Closed right before on_removed.
    process_handle& process() noexcept { return process_; }
    /// In the callback: `no_child_process` if other code has taken the status and the kernel does
    /// not keep it.
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
    bool told_ = false;   ///< the end of the process that it has
    bool stale_ = false;  ///< what `wait_` brings is not what is wanted any more
};

}  // namespace eddy
