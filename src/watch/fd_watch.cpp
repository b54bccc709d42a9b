// SPDX-License-Identifier: Apache-2.0

// Waits for the readiness of a descriptor, and starts the wait again after each callback.
#include <eddy/watch/fd_watch.hpp>

#include "watch/dispatch.hpp"

#include <eddy/watch/detail/attached_fd.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace eddy {

namespace {

constexpr interest both_directions = interest::readable | interest::writable;

interest directions_of(interest wanted) noexcept {
    const auto writes = wanted & interest::writable;
    return any(wanted & ~interest::writable) || !any(writes) ? writes | interest::readable : writes;
}

loop& home_of(const descriptor& watched) {
    if (!watched) {
        throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor),
                                "cannot watch a descriptor that is not attached");
    }
    return *watched.home();
}

}  // namespace

inline fd_watch::repeated_wait::repeated_wait(priority_level priority) noexcept
    : io_operation(
          [](io_operation& op) noexcept {
              detail::owner_of<&fd_watch::wait_>(static_cast<repeated_wait&>(op))
                  .on_event(op.result());
          },
          {.code = opcode::wait, .mode = 1, .size = 0}) {
    priority_ = priority;
}

inline fd_watch::fd_watch(loop& home, holding how, interest wanted, callback on_ready,
                          removed_callback on_removed, const watch_options& options) noexcept
    : watch(home, options),
      wait_(options.priority),
      on_ready_(on_ready),
      on_removed_(on_removed),
      directions_(both_directions),
      wanted_(wanted),
      fd_(how) {}

fd_watch::fd_watch(loop& home, unique_fd fd, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(home, holding::nothing, wanted, on_ready, on_removed, options) {
    hold(detail::attached_fd(home, std::move(fd), options.name), holding::owned, options);
}

fd_watch::fd_watch(loop& home, int fd, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(home, holding::borrowed, wanted, on_ready, on_removed, options) {
    if (options.armed && watch_again(wait_, fd, wanted)) {
        begin_armed();
    } else {
        borrow(fd, options);
    }
}

void fd_watch::borrow(int fd, const watch_options& options) {
    fd_ = holding::nothing;
    hold(detail::attached_fd(home(), fd, options.name), holding::borrowed, options);
}

/// Makes an attached fd the watch's own, and begins.
void fd_watch::hold(detail::attached_fd own, holding how, const watch_options& options) noexcept {
    const io_request on = request_builder::on(own.get(), opcode::wait);
    wait_.aim_at(on.slot, on.generation);
    own.forget();
    fd_ = how;
    // The kernel reports a new registration that is ready, so the first wait need not look. A watch
    // that is armed later, because this is not the loop's thread, does look.
    begin(options, true);
}

fd_watch::fd_watch(const descriptor& watched, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(home_of(watched), holding::nothing, wanted, on_ready, on_removed, options) {
    const io_request on = request_builder::on(watched, opcode::wait);
    wait_.aim_at(on.slot, on.generation);
    directions_ = directions_of(wanted);
    claim();
    fd_ = holding::anothers;
    begin(options, false);
}

/// Claims the directions of a descriptor that others may watch too.
void fd_watch::claim() {
    const bool reads = any(directions_ & interest::readable);
    const bool writes = any(directions_ & interest::writable);
    if ((reads && slot().watched_read) || (writes && slot().watched_write)) {
        throw std::system_error(
            std::make_error_code(std::errc::file_exists),
            "fd " + std::to_string(slot().fd) + " has a watch for this direction already");
    }
    slot().watched_read = slot().watched_read || reads;
    slot().watched_write = slot().watched_write || writes;
}

void fd_watch::begin(const watch_options& options, bool edge) noexcept {
    if (!options.armed) {
        return;
    }
    if (!on_thread()) {
        arm();
        return;
    }
    begin_armed();
    if (edge && slot().kind != descriptor_kind::file) {
        start_wait(wait_, wanted_, true);
    } else {
        start(arming::look);
    }
}

fd_watch::~fd_watch() {
    leave();
    if (in_group()) {
        leave_group();
    }
    if (fd_ == holding::borrowed && part(wait_)) {
        return;
    }
    if (wait_.pending()) {
        home().abandon(wait_);
    }
    let_go();
}

inline bool fd_watch::attached() const noexcept {
    return fd_ != holding::nothing && slot().generation == wait_.request().generation;
}

int fd_watch::native_handle() const noexcept { return attached() ? slot().fd : -1; }

/// Lets go of the fd: frees its directions, gives it back or closes it. Nothing may be pending.
void fd_watch::let_go() noexcept {
    if (fd_ == holding::anothers && attached()) {
        slot().watched_read = slot().watched_read && !any(directions_ & interest::readable);
        slot().watched_write = slot().watched_write && !any(directions_ & interest::writable);
    }
    const holding how = std::exchange(fd_, holding::nothing);
    if (how == holding::borrowed || how == holding::owned) {
        detail::attached_fd(home(), wait_.request(), how == holding::borrowed).detach();
    }
}

void fd_watch::removed() noexcept {
    leave_group();
    let_go();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

/// Starts the wait. Most start with the same request as before, on a short path.
void fd_watch::start(arming how) noexcept {
    const bool as_before = how == arming::edge && !broken_ && !repeated_ &&
                           wait_.request().flags == static_cast<int>(wanted_);
    if (!as_before || !wait_again(wait_)) {
        start_anew(how);
    }
}

void fd_watch::start_anew(arming how) noexcept {
    if (wait_.pending()) {
        stale_ = true;  // on io_uring: it is being cancelled, and its end starts the next
        return;
    }
    // A regular file is never ready for anything but reading and writing.
    const bool never_ready =
        slot().kind == descriptor_kind::file && !any(wanted_ & both_directions);
    if (broken_) {
        disarm();
        return;
    }
    if (never_ready && attached()) {
        return;
    }
    if (how == arming::requeue) {
        repeated_ = true;
        complete_queued(wait_, io_result::value(static_cast<std::int64_t>(ready_)));
        return;
    }
    // A callback that has generated the edge knows nothing of events that were not wanted then, and
    // edges between an event and its repetition were not seen.
    const bool edge =
        how == arming::edge && !repeated_ && wait_.request().flags == static_cast<int>(wanted_);
    repeated_ = false;
    start_wait(wait_, wanted_, edge);
}

void fd_watch::stop() noexcept {
    withdraw_turn();
    withdraw(wait_);
    stale_ = wait_.pending();
}

void fd_watch::changed(std::uint32_t value) noexcept {
    const auto wanted = static_cast<interest>(value);
    EDDY_ASSERT(!any(directions_of(wanted) & ~directions_),
                "the interest of a watch was changed to a direction that is not its own");
    if (wanted == wanted_) {
        return;
    }
    wanted_ = wanted;
    if (armed() && !calling()) {
        stop();
        start(arming::look);
    }
}

void fd_watch::reprioritise(priority_level priority) noexcept { move(wait_, priority); }

/// Handles a completion other than plain readiness. Returns true if the callback is to be called.
bool fd_watch::is_event(io_result result) noexcept {
    const bool stale = std::exchange(stale_, false);
    if (removing() || !armed()) {
        do_not_count();
        finish_removal();
        return false;
    }
    const bool ended = wait_.was_canceled();
    if (ended && loop_ends()) {
        do_not_count();
        disarm();
        return false;
    }
    if (stale || ended) {  // a fork ends the wait too
        do_not_count();
        start(arming::look);
        return false;
    }
    broken_ = !result;
    ready_ = result ? ready_set(result) : interest::invalid;
    return true;
}

void fd_watch::on_event(io_result result) noexcept {
    if (removing() || !armed() || stale_ || !result) [[unlikely]] {
        if (!is_event(result)) {
            return;  // the watch may be gone
        }
    } else {
        ready_ = ready_set(result);
    }
    if (in_group()) {
        do_not_count();  // the callback is counted instead
        ask_for_turn();
    } else {
        dispatch_as(*this);
    }
}

reaction fd_watch::call() noexcept { return on_ready_(*this); }

void fd_watch::on_join(loop& of_group, priority_level priority) noexcept {
    EDDY_ASSERT(&of_group == &home(), "a watch was added to a group of another loop");
    set_priority(priority);
}

void fd_watch::on_turn() noexcept {
    if (loop_ends()) {
        disarm();
    } else {
        dispatch();
    }
}

void fd_watch::on_leave() noexcept {
    if (armed()) {
        start(arming::requeue);
    }
}

}  // namespace eddy
