// SPDX-License-Identifier: Apache-2.0

// Waits for the end of a process, and reads its status right before the callback.
#include <eddy/watch/child_watch.hpp>

#include <eddy/base/assert.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/loop/requests.hpp>

#include <utility>

namespace eddy {

namespace {

process_handle adopted(loop& home, pid_t pid) {
    process_handle process;
    if (auto error = process_handle::adopt(home, pid, process)) {
        throw std::system_error(error, "cannot watch a process");
    }
    return process;
}

}  // namespace

child_watch::child_watch(loop& home, process_handle process, callback on_end,
                         removed_callback on_removed, const watch_options& options)
    : watch(home, options), process_(std::move(process)), on_end_(on_end), on_removed_(on_removed) {
    EDDY_ASSERT(!process_ || process_.home() == &home, "a process of another loop was given");
    wait_.set_callback([](io_operation& op) noexcept {
        detail::owner_of<&child_watch::wait_>(op).on_event(op.result());
    });
    wait_.set_priority(options.priority);
    if (options.armed) {
        arm();
    }
}

child_watch::child_watch(loop& home, callback on_end, removed_callback on_removed,
                         const watch_options& options)
    : child_watch(home, process_handle(), on_end, on_removed, options) {}

child_watch::child_watch(loop& home, const process_options& what, callback on_end,
                         removed_callback on_removed, const watch_options& options)
    : child_watch(home, process_handle(home, what), on_end, on_removed, options) {}

child_watch::child_watch(loop& home, pid_t pid, callback on_end, removed_callback on_removed,
                         const watch_options& options)
    : child_watch(home, adopted(home, pid), on_end, on_removed, options) {}

child_watch::~child_watch() {
    leave();
    if (wait_.pending()) {
        home().abandon(wait_);
    }
}

std::error_code child_watch::spawn(const process_options& what, spawn_step* failed) noexcept {
    process_handle fresh;
    const std::error_code error = process_handle::spawn(home(), what, fresh, failed);
    if (!error) {
        take(std::move(fresh));
    }
    return error;
}

std::error_code child_watch::adopt(pid_t pid) noexcept {
    process_handle fresh;
    const std::error_code error = process_handle::adopt(home(), pid, fresh);
    if (!error) {
        take(std::move(fresh));
    }
    return error;
}

std::error_code child_watch::reserve(const process_options& what, spawn_step* failed) noexcept {
    return process_reservation::make(home(), what, reserved_, failed);
}

std::error_code child_watch::spawn(spawn_step* failed) noexcept {
    process_handle fresh;
    const std::error_code error = reserved_.spawn(fresh, failed);
    if (!error) {
        take(std::move(fresh));
    }
    return error;
}

void child_watch::take(process_handle fresh) noexcept {
    const bool waits = armed() && !calling();
    if (waits) {
        stop();
    }
    process_ = std::move(fresh);
    told_ = false;
    if (waits) {
        start(arming::look);
    }
}

void child_watch::start(arming how) noexcept {
    if (wait_.pending()) {
        stale_ = true;  // on io_uring: it is being cancelled, and its end starts the next
        return;
    }
    if (how == arming::requeue) {
        told_ = false;
        complete_queued(wait_, io_result::value(0));
    } else if (process_ && !told_) {
        start_queued(wait_, eddy::wait(process_.get_descriptor(), interest::readable));
    }
}

void child_watch::stop() noexcept {
    withdraw(wait_);
    stale_ = wait_.pending();
}

void child_watch::on_event(io_result result) noexcept {
    const bool stale = std::exchange(stale_, false);
    if (removing() || !armed()) {
        do_not_count();
        finish_removal();
        return;
    }
    if (!result && loop_ends()) {
        do_not_count();
        disarm();
        return;
    }
    if (!stale && !wait_.was_canceled() && process_) {
        error_ = result ? detail::end_of(*process_.state(), status_) : result.error();
        if (error_ != std::errc::operation_would_block) {
            dispatch();
            return;
        }
    }
    // The watch has another process or none, the program has forked, or others reap the child.
    do_not_count();
    start(arming::look);
}

reaction child_watch::call() noexcept {
    told_ = true;
    const exit_status status = status_;  // a copy: the callback may destroy the watch
    return on_end_(*this, status);
}

void child_watch::removed() noexcept {
    process_.close();
    reserved_ = {};
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

}  // namespace eddy
