// SPDX-License-Identifier: Apache-2.0

// Watches one process: waits for its end, reaps it, and keeps its status.
#include "os/processes/process_state.hpp"

#include "kernel/event.hpp"
#include "kernel/fork_mark.hpp"
#include "kernel/io.hpp"
#include "os/processes/process_registry.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/requests.hpp>

#include <atomic>
#include <csignal>
#include <utility>

#include <sys/wait.h>

namespace eddy::detail {

namespace {

/// Interval between two looks at a process whose pidfd found no room on the loop.
constexpr duration tick = std::chrono::milliseconds(20);

constexpr std::errc not_yet = std::errc::operation_would_block;

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only has to be unique
}

}  // namespace

exit_status status_of(const kernel::process_end& end) noexcept {
    exit_status status;
    status.known = true;
    status.code = WIFEXITED(end.wait_status) ? WEXITSTATUS(end.wait_status) : 0;
    status.signal = WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : 0;
    status.core = WIFSIGNALED(end.wait_status) && WCOREDUMP(end.wait_status);
    status.has_usage = end.has_usage;
    status.usage = end.usage;
    return status;
}

process_state::process_state(loop& home, const char* label)
    : home_(home),
      number_(next_number()),
      label_(label),
      tick_(home, &on_tick, &on_last_tick),
      reaper_(&on_readable),
      next_run_(&on_next_run),
      end_(nullptr, &on_lost),
      process_mark_(kernel::process_mark()) {
    reaper_.set_background(true);
    tick_.set_interval(tick);
}

process_state::~process_state() = default;

bool process_state::in_forked_child() const noexcept {
    return process_mark_ != kernel::process_mark();
}

std::error_code process_state::reserve() noexcept {
    unique_fd event;
    if (auto error = kernel::make_eventfd(event)) {
        return error;
    }
    return descriptor::attach(home_, event, ended_,
                              {.kind = descriptor_kind::other, .name = label_});
}

void process_state::watch(kernel::spawned process, last_handle at_end) noexcept {
    handles_ = 1;
    pid_ = process.pid;
    child_ = kernel::is_child(process.pidfd.get());
    at_end_ = at_end;
    if (descriptor::attach(home_, process.pidfd, ended_,
                           {.kind = descriptor_kind::other, .name = label_})) {
        pidfd_ = std::move(process.pidfd);
        home_.post_after(tick, tick_);
    }
    process_registry::instance().add(*this);
    if (child_ && !pidfd_) {
        start_reaper();
    }
}

/// Keeps this alive until the process has ended.
void process_state::start_reaper() noexcept {
    self_ = shared_from_this();
    home_.start(reaper_, wait(ended_, interest::readable));
}

void process_state::on_readable(io_operation& op) noexcept {
    process_state& self = owner_of<&process_state::reaper_>(op);
    const std::shared_ptr<process_state> hold = std::exchange(self.self_, nullptr);
    if (op.result()) {
        self.settle();
    }
    if ((!op.result() && !op.was_canceled()) || !self.go_on()) {
        self.stay_away();
    }
}

/// Continues to watch now, or from the loop's next run on if the loop drains. False if there is
/// nothing to watch for, or no loop.
bool process_state::go_on() noexcept {
    // In the child after fork() others may still wait for the process, but we cannot reap it.
    if (over_ || (in_forked_child() && !pidfd_)) {
        return false;
    }
    if (home_.ends()) {
        if (!home_.tell_of_next_run(next_run_)) {
            return false;
        }
        self_ = shared_from_this();
    } else if (pidfd_) {
        home_.post_after(tick, tick_);
    } else {
        start_reaper();
    }
    return true;
}

/// Lets go of the process after go_on() was not possible.
void process_state::stay_away() noexcept {
    if (handles_ != 0) {
        return;
    }
    if (in_forked_child()) {
        forget_in_forked_child();
    } else if (over_) {
        forget_watch();
    } else {
        become_orphan();
    }
}

void process_state::on_next_run(loop_notice& notice) noexcept {
    process_state& self = owner_of<&process_state::next_run_>(notice);
    const std::shared_ptr<process_state> hold = std::exchange(self.self_, nullptr);
    if (!self.go_on()) {
        self.stay_away();
    }
}

void process_state::on_lost(loop_notice& notice) noexcept {
    process_state& self = owner_of<&process_state::end_>(notice);
    const std::shared_ptr<process_state> hold = std::exchange(self.self_, nullptr);
    self.forget_in_forked_child();
}

void process_state::on_last_tick(timer& ticking) noexcept {
    process_state& self = owner_of<&process_state::tick_>(ticking);
    if (!self.go_on()) {
        self.stay_away();
    }
}

void process_state::on_tick(timer& ticking) noexcept {
    process_state& self = owner_of<&process_state::tick_>(ticking);
    self.settle();
    if (self.over_) {
        self.home_.disarm(ticking);
    }
}

const process_state::changes& process_state::changes_now() noexcept {
    int stopped_by = 0;
    if (!over_ && !kernel::take_change(pidfd(), stopped_by)) {
        ++changes_.count;
        changes_.stopped_by = stopped_by;
    }
    return changes_;
}

std::error_code process_state::end(exit_status& out) noexcept {
    settle();
    if (!over_) {
        return std::make_error_code(not_yet);
    }
    out = status_;
    return error_;
}

void process_state::settle() noexcept {
    if (over_) {
        return;
    }
    if (child_ && !in_forked_child()) {
        settle_child();
    } else {
        settle_other();
    }
    // All waiters are notified, no matter who asked.
    if (const int event = ended_.native_handle(); over_ && pidfd_ && event >= 0) {
        kernel::signal_eventfd(event);
    }
}

void process_state::settle_child() noexcept {
    kernel::process_end end;
    const std::error_code error = kernel::reap(pidfd(), end);
    if (error == not_yet) {
        return;
    }
    // Asked first: once the process is gone, the kernel has its status, or never will.
    const bool gone = error && kernel::signal_pidfd(pidfd(), 0);
    if (!error || process_registry::instance().take_kept_end(*this, end) ||
        !kernel::recall_end(pidfd(), end)) {
        settled(end);
    } else if (gone) {
        over_ = true;
        error_ = error;
    }
    // Otherwise others are about to reap it: the kernel knows the status after that.
}

void process_state::settle_other() noexcept {
    kernel::process_end end;
    if (!kernel::recall_end(pidfd(), end)) {
        settled(end);
    } else if (kernel::ready_now(pidfd(), interest::readable).raw() > 0) {
        over_ = true;
    }
}

void process_state::settled(const kernel::process_end& end) noexcept {
    over_ = true;
    status_ = status_of(end);
}

void process_state::drop_handle() noexcept {
    if (--handles_ != 0) {
        return;
    }
    if (in_forked_child()) {
        forget_in_forked_child();
        return;
    }
    if (at_end_ == last_handle::kills_group) {
        // After the process was reaped, its number alone may be that of another group.
        static_cast<void>(kernel::signal_group(pidfd(), over_ ? -1 : pid_, SIGKILL));
    }
    // Kill the process as well as its group, which it may have left.
    if (!over_ && at_end_ != last_handle::leaves_it) {
        static_cast<void>(kernel::signal_pidfd(pidfd(), SIGKILL));
    }
    settle();
    if (over_ || !child_) {
        forget_watch();
    } else {
        go_to_background();
    }
}

/// Takes the reaper back. Precondition: the caller keeps this alive.
void process_state::leave_reaper() noexcept {
    next_run_.take_back();
    end_.take_back();
    if (reaper_.pending()) {
        home_.abandon(reaper_);
    }
    self_.reset();
}

void process_state::forget_watch() noexcept {
    process_registry::instance().remove(*this);
    leave_reaper();
    home_.disarm(tick_);
    ended_.close();
    pidfd_.reset();
}

/// Lets go of the process: its end and its place in the registry are the parent's. A pending reaper
/// keeps this alive for the loop, which may be destroyed or go on.
void process_state::forget_in_forked_child() noexcept {
    home_.disarm(tick_);
    ended_.close();
    pidfd_.reset();
}

/// Ends the waits of others, and continues to watch alone.
void process_state::go_to_background() noexcept {
    if (pidfd_) {
        become_orphan();
        return;
    }
    leave_reaper();
    unique_fd fd;
    if (ended_.release(fd)) {
        forget_watch();  // other code has closed the fd
        return;
    }
    if (descriptor::attach(home_, fd, ended_,
                           {.kind = descriptor_kind::other, .name = "process in the background"})) {
        pidfd_ = std::move(fd);
        become_orphan();
        return;
    }
    home_.tell_of_end(end_);
    start_reaper();
}

/// Removes everything from the loop, and leaves the process to the registry.
void process_state::become_orphan() noexcept {
    process_registry& registry = process_registry::instance();
    registry.remove(*this);
    leave_reaper();
    home_.disarm(tick_);
    if (pidfd_) {
        ended_.close();
    } else if (ended_.release(pidfd_)) {
        return;
    }
    registry.add_orphan(shared_from_this());
}

}  // namespace eddy::detail
