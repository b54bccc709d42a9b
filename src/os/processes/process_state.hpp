// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/process.hpp"

#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/detail/loop_notice.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/os/exit_status.hpp>
#include <eddy/os/process_options.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>

namespace eddy::detail {

exit_status status_of(const kernel::process_end& end) noexcept;

/// The effect that the end of the last handle has on the process.
enum class last_handle : std::uint8_t { leaves_it, kills_it, kills_group };

/// The state of one process, shared by its handles and by the waits for it.
///
///     reserved --watch()--> watched --it ends, is reaped--> over
///                           watched --last handle goes--> in the background --it ends--> over
///                           either --the loop drains--> paused --its next run--> as before
///                           in the background --the loop ends--> orphan (see process_registry)
///
/// Thread: the loop's, except for calls by process_registry.
class process_state : public std::enable_shared_from_this<process_state> {
public:
    /// Throws std::bad_alloc.
    process_state(loop& home, const char* label);
    ~process_state();
    process_state(const process_state&) = delete;
    process_state& operator=(const process_state&) = delete;

    /// Makes room on the loop, so that watch() cannot fail.
    std::error_code reserve() noexcept;
    /// Starts to watch, with one handle.
    void watch(kernel::spawned process, last_handle at_end) noexcept;
    void add_handle() noexcept { ++handles_; }
    void drop_handle() noexcept;

    loop& home() const noexcept { return home_; }
    /// A number that is never 0. No other state has or had it, not even one at the same address.
    std::uint64_t number() const noexcept { return number_; }
    pid_t pid() const noexcept { return pid_; }
    bool child() const noexcept { return child_; }
    /// The descriptor becomes readable when the process ends.
    const descriptor& ended() const noexcept { return ended_; }
    int pidfd() const noexcept { return pidfd_ ? pidfd_.get() : ended_.native_handle(); }

    /// The number of stops and continuations seen, and the signal of the last if it was a stop.
    struct changes {
        std::uint64_t count = 0;
        int stopped_by = 0;
    };
    /// Asks the kernel for new changes first.
    const changes& changes_now() noexcept;
    const changes& changes_seen() const noexcept { return changes_; }
    bool has_handles() const noexcept { return handles_ != 0; }

    /// Implements end_of() of <eddy/os/process_handle.hpp>.
    std::error_code end(exit_status& out) noexcept;

private:
    static void on_readable(io_operation& op) noexcept;
    static void on_tick(timer& tick) noexcept;
    static void on_last_tick(timer& tick) noexcept;
    static void on_next_run(loop_notice& notice) noexcept;
    static void on_lost(loop_notice& notice) noexcept;
    bool in_forked_child() const noexcept;
    void settle() noexcept;
    void settle_child() noexcept;
    void settle_other() noexcept;
    void settled(const kernel::process_end& end) noexcept;
    void start_reaper() noexcept;
    [[nodiscard]] bool go_on() noexcept;
    void stay_away() noexcept;
    void leave_reaper() noexcept;
    void forget_watch() noexcept;
    void forget_in_forked_child() noexcept;
    void go_to_background() noexcept;
    void become_orphan() noexcept;

    loop& home_;
    const std::uint64_t number_;
    const char* label_;
    pid_t pid_ = -1;
    bool child_ = false;
    last_handle at_end_ = last_handle::leaves_it;
    bool over_ = false;
    unsigned handles_ = 0;
    /// The pidfd on the loop. If the loop has no room for it, an event that `tick_` sets.
    descriptor ended_;
    /// Empty if the pidfd is on the loop.
    unique_fd pidfd_;
    timer tick_;
    io_operation reaper_;
    /// Pending after a drain has ended `tick_` or `reaper_`.
    loop_notice next_run_;
    /// Pending in the background, where no handle could let go of a loop that a fork has lost.
    loop_notice end_;
    /// Set while `reaper_` is pending, or `next_run_` will start it.
    std::shared_ptr<process_state> self_;
    std::uint64_t process_mark_;
    exit_status status_;
    changes changes_;
    std::error_code error_;

    // Under the registry's lock.
    process_state* next_known_ = nullptr;
    std::shared_ptr<process_state> next_orphan_;
    int known_pidfd_ = -1;
    std::optional<kernel::process_end> kept_end_;  ///< taken by another loop for ours
    bool known_ = false;

    friend class process_registry;
};

}  // namespace eddy::detail
