// SPDX-License-Identifier: Apache-2.0

// Registers fds with the poller, and removes them from it.
#include "base/make_opened.hpp"
#include "engine/readiness/readiness_engine.hpp"
#include "kernel/io.hpp"

#include <algorithm>
#include <cerrno>

namespace eddy {

namespace {

void forget_registration(fd_slot& slot) noexcept {
    slot.registered = interest::none;
    slot.tells_of_data = slot.parted = false;
}

}  // namespace

call_failure readiness_engine::open() noexcept {
    const call_failure failure =
        kind_ == engine_kind::poll
            ? open_poll_poller(poller_)
            : make_opened<epoll_poller>(poller_, [](auto& made) { return made.open(); });
    edge_ = !failure && poller_->traits().edge;
    const bool has_epoll = !failure && kind_ != engine_kind::poll;
    epoll_ = has_epoll ? static_cast<epoll_poller*>(poller_.get()) : nullptr;
    return failure;
}

std::error_code readiness_engine::enroll(fd_slot& slot) noexcept {
    if (slot.kind == descriptor_kind::file) {
        slot.may_read = true;
        return {};
    }
    if (edge_) {
        slot.registered = from_the_start;
        slot.tells_of_data = true;
    }
    const fd_slot* const before = table_.find(slot.fd);
    const bool taken = before != nullptr && before->fd >= 0;
    if (taken) {
        tidy_ = false;  // others have closed the fd of this slot
    }
    auto error = poller_->add(slot.fd, slot.registered, how(), token_of(slot));
    // This open file was here before, and was closed before it was removed. A duplicate of it lives
    // on and now has this number. (If the number is taken, the fd is attached twice.)
    if (error == std::errc::file_exists && !taken &&
        poller_->readd(slot.fd, slot.registered, how(), token_of(slot))) {
        error = {};
    }
    if (error == std::errc::operation_not_permitted) {
        slot.kind = descriptor_kind::file;  // epoll says that it is always ready
        forget_registration(slot);
        slot.may_read = true;
        return {};
    }
    return error;
}

void readiness_engine::expel(fd_slot& slot) noexcept {
    // A file may be registered too, as what it was taken for before: see readmit().
    if (slot.kind != descriptor_kind::file || any(slot.registered)) {
        tidy_ &= poller_->remove(slot.fd) && !slot.lost;
        forget_registration(slot);
    }
}

void readiness_engine::expel_later(fd_slot& slot) noexcept {
    if (edge_ && any(slot.registered) && leaver_count_ < leaver_max_) {
        leavers_[leaver_count_++] = {slot.fd, &slot};
    } else {
        expel(slot);
    }
}

/// Moves the last leaver, which is no longer counted, to the place of `slot`.
void readiness_engine::fill_place_of(const fd_slot& slot) noexcept {
    *std::find_if(leavers_.begin(), leavers_.end(),
                  [&](const leaver& l) { return l.slot == &slot; }) = leavers_[leaver_count_];
}

bool readiness_engine::readmit(fd_slot& fresh, fd_slot& before) noexcept {
    if (!any(before.registered)) {
        return false;
    }
    forget_registration(before);
    stays(before);
    if (!poller_->readd(fresh.fd, from_the_start, how(), token_of(fresh))) {
        tidy_ = false;
        return false;
    }
    if (!tidy_) {
        before.kind = descriptor_kind::unknown;  // the registration may be an older leftover
    }
    fresh.registered = from_the_start;
    fresh.tells_of_data = true;
    return true;
}

/// Removes the registrations of released fds that were not attached again.
void readiness_engine::expel_leavers() noexcept {
    for (; leaver_count_ != 0; --leaver_count_) {
        const leaver& last = leavers_[leaver_count_ - 1];
        tidy_ &= poller_->remove(last.fd);
        forget_registration(*last.slot);
    }
}

/// Takes note of an event without a slot. An fd that is closed between its release and the next
/// wait leaves its registration behind if a duplicate lives on. Such events are few; if not, a new
/// poller is worth its cost.
void readiness_engine::on_stray() noexcept {
    constexpr unsigned bearable = 64;
    if (++strays_ < bearable || handle_given()) {
        return;
    }
    strays_ = 0;
    const auto error = poller_->renew([this] {
        std::error_code first_error;
        table_.for_each([&](fd_slot& slot) {
            if (!any(slot.registered) || first_error) {
                return;
            }
            if (is_ours(slot)) {
                first_error = poller_->add(slot.fd, slot.registered, how(), token_of(slot));
            } else {
                on_invalid(slot);  // a new file must not be registered in its place
            }
        });
        return first_error;
    });
    tidy_ = !error;
}

call_failure readiness_engine::native_handle(int& out) noexcept {
    out = poller_->native_handle();
    if (out < 0) {
        return {std::make_error_code(std::errc::not_supported)};
    }
    expel_leavers();
    leaver_max_ = 0;
    return {};
}

interest readiness_engine::wanted_by(const fd_slot& slot) const noexcept {
    auto wanted = interest::none;
    // An operation that backs off waits for time, not for the descriptor.
    if (!slot.readers.empty() && !slot.may_read && !slot.backing_off) {
        wanted |= interest::readable | interest::peer_closed;
    }
    if (!slot.writers.empty() && !slot.may_write && !slot.backing_off) {
        wanted |= interest::writable;
    }
    for (const io_operation* op = slot.waiters.front(); op != nullptr;
         op = io_list::next(*op, slot.waiters)) {
        // On a level-triggered poller, a wait that was notified and has not run yet needs no more.
        if (edge_ || op->phase_ == phase::waiting) {
            wanted |= static_cast<interest>(op->request_.flags);
            // Reported without being asked for, but only for an fd that is in the set.
            wanted |= edge_ ? interest::none : interest::hangup;
        }
    }
    return edge_ ? wanted | slot.registered : wanted;
}

std::error_code readiness_engine::update(fd_slot& slot) noexcept {
    const interest wanted = wanted_by(slot);
    if (wanted == slot.registered || slot.kind == descriptor_kind::file) {
        return {};
    }
    const auto error = poller_->modify(slot.fd, wanted, how(), token_of(slot));
    if (!error) {
        slot.registered = wanted;
    }
    return error;
}

/// Tells the poller of an operation in its list that must wait.
progress readiness_engine::tell(io_operation& op) noexcept {
    if (auto error = update(*op.request_.slot)) {
        done(op, io_result::system_error(error.value()));
        return progress::finished;
    }
    return progress::pending;
}

/// Examines an EBADF: others have closed the fd, or it just is not open for this direction.
void readiness_engine::look_after(fd_slot& slot, io_result result) noexcept {
    if (result.system_error() != EBADF) {
        return;
    }
    const io_result ready = kernel::ready_now(slot.fd, interest::none);
    if (any(static_cast<interest>(ready.raw()) & interest::invalid)) {
        on_invalid(slot);
    }
}

/// Ends all operations of an fd that others have closed.
void readiness_engine::on_invalid(fd_slot& slot) noexcept {
    expel(slot);
    end_operations(slot, end_reason::bad_fd);
}

call_failure readiness_engine::rebuild_after_fork() noexcept {
    for_each_operation([this](io_operation& op) {
        end_starving(op);
        if (op.phase_ == phase::waiting || op.phase_ == phase::runnable) {
            end(op, end_reason::canceled);
        }
    });
    for (; leaver_count_ != 0; --leaver_count_) {
        forget_registration(*leavers_[leaver_count_ - 1].slot);
    }
    // Closing the inherited epoll fd leaves the parent's registrations; removing fds would not.
    if (auto failure = open()) {
        return failure;
    }
    std::error_code first_error;
    table_.for_each([&](fd_slot& slot) {
        forget_registration(slot);
        if (auto error = enroll(slot); error && !first_error) {
            first_error = error;
        }
    });
    tidy_ = true;
    return {first_error, "epoll_ctl"};
}

call_failure make_readiness_engine(engine_kind kind, ready_queue& ready,
                                   std::unique_ptr<engine>& out) noexcept {
    return make_opened<readiness_engine>(out, [](auto& made) { return made.open(); }, kind, ready);
}

}  // namespace eddy
