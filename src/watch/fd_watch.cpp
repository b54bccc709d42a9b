#include <eddy/watch/fd_watch.hpp>

#include <string>
#include <system_error>

namespace eddy {

namespace {

constexpr interest both_directions = interest::readable | interest::writable;
constexpr interest unasked = interest::error | interest::hangup | interest::invalid;

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

fd_watch::fd_watch(loop& home, unique_fd fd, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(detail::attached_fd(home, std::move(fd), options.name), wanted, on_ready, on_removed,
               options) {}

fd_watch::fd_watch(loop& home, int fd, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(detail::attached_fd(home, fd, options.name), wanted, on_ready, on_removed, options) {
}

fd_watch::fd_watch(detail::attached_fd own, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(own.get(), both_directions, options) {
    own_ = std::move(own);
    begin(wanted, on_ready, on_removed, options.armed);
}

fd_watch::fd_watch(const descriptor& watched, interest wanted, callback on_ready,
                   removed_callback on_removed, const watch_options& options)
    : fd_watch(watched, directions_of(wanted), options) {
    begin(wanted, on_ready, on_removed, options.armed);
}

fd_watch::fd_watch(const descriptor& watched, interest directions, const watch_options& options)
    : watch(home_of(watched), options),
      request_(wait(watched, interest::none)),
      directions_(directions) {
    fd_slot& slot = *request_.slot;
    const bool reads = any(directions & interest::readable);
    const bool writes = any(directions & interest::writable);
    if ((reads && slot.watched_read) || (writes && slot.watched_write)) {
        throw std::system_error(
            std::make_error_code(std::errc::file_exists),
            "fd " + std::to_string(slot.fd) + " has a watch for this direction already");
    }
    slot.watched_read = slot.watched_read || reads;
    slot.watched_write = slot.watched_write || writes;
    wait_.set_callback([](io_operation& op) noexcept {
        detail::owner_of<&fd_watch::wait_>(op).on_event(op.result());
    });
    wait_.set_priority(options.priority);
}

void fd_watch::begin(interest wanted, callback on_ready, removed_callback on_removed, bool armed) {
    wanted_ = wanted;
    on_ready_ = on_ready;
    on_removed_ = on_removed;
    if (armed) {
        // What has just been attached is told of by itself if it is ready. Not if it is armed only
        // later, because this is not the loop's thread.
        request_.edge = static_cast<bool>(own_.get());
        arm();
        request_.edge = false;
    }
}

fd_watch::~fd_watch() {
    leave();
    leave_group();
    if (wait_.pending()) {
        home().abandon(wait_);
    }
    let_go();
}

bool fd_watch::attached() const noexcept {
    return request_.slot != nullptr && request_.slot->generation == request_.generation;
}

int fd_watch::native_handle() const noexcept { return attached() ? request_.slot->fd : -1; }

/// Nothing is pending: the fd goes back to whom it belongs.
void fd_watch::let_go() noexcept {
    if (attached()) {
        fd_slot& slot = *request_.slot;
        slot.watched_read = slot.watched_read && !any(directions_ & interest::readable);
        slot.watched_write = slot.watched_write && !any(directions_ & interest::writable);
    }
    request_.slot = nullptr;
    own_.detach();
}

void fd_watch::removed() noexcept {
    leave_group();
    let_go();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

void fd_watch::start(arming how) noexcept {
    if (wait_.pending()) {
        stale_ = true;  // with io_uring: it was cancelled, and its end begins anew
        return;
    }
    // A file is ready for nothing else, and never will be.
    const bool never_ready =
        request_.slot->kind == descriptor_kind::file && !any(wanted_ & both_directions);
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
    const int flags = static_cast<int>(wanted_);
    // An edge that was generated says nothing about what is asked for only now, and edges that came
    // between the event and its repetition were not seen.
    request_.edge |= how == arming::edge && request_.flags == flags && !repeated_;
    repeated_ = false;
    request_.flags = flags;
    start_queued(wait_, request_);
    request_.edge = false;
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

void fd_watch::on_event(io_result result) noexcept {
    const bool stale = stale_;
    stale_ = false;
    if (removing() || !armed()) {
        do_not_count();
        finish_removal();
        return;
    }
    const bool ended = wait_.was_canceled();
    if (ended && loop_ends()) {
        do_not_count();
        disarm();
        return;
    }
    if (stale || ended) {  // or the process has forked
        do_not_count();
        start(arming::look);
        return;
    }
    broken_ = !result;
    ready_ = result ? ready_set(result) : interest::invalid;
    if (in_group()) {
        do_not_count();  // its call will be
        ask_for_turn();
    } else {
        dispatch();
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
