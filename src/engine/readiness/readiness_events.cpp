// SPDX-License-Identifier: Apache-2.0

// Turns the reports of the poller, and cancellations, into operations in the ready queue.
#include "engine/readiness/readiness_wait.hpp"

#include <span>

namespace eddy {

namespace {

constexpr interest hangups = interest::error | interest::hangup | interest::peer_closed;

}  // namespace

void readiness_engine::cancel(io_operation& op, end_reason reason) noexcept {
    end_starving(op);
    if (op.phase_ != phase::waiting && op.phase_ != phase::runnable) {
        return;  // it has a result, or another thread will give it one
    }
    io_list& list = list_of(op);
    end(op, reason);
    if (looks_elsewhere(op.request_)) {
        op.request_.slot->may_read = true;  // its findings say nothing about the data
    }
    if (op.request_.slot != nullptr && !op.request_.slot->detaching) {
        activate(*op.request_.slot, list);
        static_cast<void>(update(*op.request_.slot));  // less interest: this cannot fail
    }
}

/// Ends the operation for `reason`. Precondition: it is in its list and not with another thread.
void readiness_engine::end(io_operation& op, end_reason reason) noexcept {
    drop_buffer(op);  // reserved, but not needed
    op.wanted_end_ = reason;
    complete(op, result_of(reason));
}

void readiness_engine::activate(fd_slot& slot, io_list& list) noexcept {
    if (&list == &slot.waiters || slot.backing_off) {
        return;
    }
    // An operation fails if the poller cannot be updated for it.
    while (!list.empty() && list.front()->phase_ == phase::waiting) {
        io_operation& first = *list.front();
        if (may(slot, first.request_)) {
            make_runnable(first);
            return;
        }
        const auto error = update(slot);
        if (!error) {
            return;
        }
        complete(first, io_result::system_error(error.value()));
    }
}

io_result readiness_engine::wait(time_point until, bool& woken) noexcept {
    return wait_in_line(until, woken);
}

io_result readiness_engine::wait_in_poller(time_point until, bool& woken) noexcept {
    const io_result found = poller_->wait(until, events_, woken);
    for (const poll_event& event : std::span(events_).first(found.count())) {
        take_event(event, woken);
    }
    return found;
}

void readiness_engine::take_other_event(const poll_event& event, bool& woken) noexcept {
    fd_slot* const slot = table_.find(static_cast<int>(event.token & UINT32_MAX));
    if (event.token == epoll_poller::wake_token) {
        woken = true;
    } else if (slot != nullptr && slot->generation == event.token >> 32 && slot->fd >= 0) {
        on_event(*slot, event.ready);
    } else {
        on_stray();  // of a detached fd, whose number may be in use again
    }
}

/// Takes note of conditions other than readable and writable. False: the fd is gone.
bool readiness_engine::note_conditions(fd_slot& slot, interest ready) noexcept {
    if (any(ready & interest::invalid)) {
        on_invalid(slot);
        return false;
    }
    slot.error_told = any(ready & interest::error);
    slot.hangup_seen |= any(ready & hangups);
    slot.urgent_seen |= any(ready & interest::priority);
    return true;
}

void readiness_engine::on_event(fd_slot& slot, interest ready) noexcept {
    slot.error_told = false;
    if (any(ready & ~(interest::readable | interest::writable)) && !note_conditions(slot, ready)) {
        return;
    }
    if (any(ready & (interest::readable | interest::priority | hangups))) {
        slot.may_read = true;
        wake_first(slot, slot.readers);
    }
    if (any(ready & (interest::writable | interest::error | interest::hangup))) {
        slot.may_write = true;
        wake_first(slot, slot.writers);
    }
    if (!slot.waiters.empty()) {
        tell_waiters(slot, ready);
    }
    if (!edge_) {
        static_cast<void>(update(slot));
    }
}

}  // namespace eddy
