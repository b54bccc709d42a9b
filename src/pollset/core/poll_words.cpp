// SPDX-License-Identifier: Apache-2.0

// Arms closures in the words of handles, and takes them out: for events, cancellation and the end.
#include "pollset/strategies/every_event.hpp"

#include <eddy/base/error.hpp>

namespace eddy::detail {

namespace {

constexpr auto read = poll_event_kind::read;
constexpr auto write = poll_event_kind::write;
constexpr auto error = poll_event_kind::error;

constexpr interest read_events = interest::readable | interest::priority | interest::peer_closed;
constexpr interest failure = interest::error | interest::hangup | interest::invalid;

std::error_code canceled() noexcept { return std::make_error_code(std::errc::operation_canceled); }

}  // namespace

std::error_code poll_core::already_waiting() noexcept {
    return std::make_error_code(std::errc::connection_already_in_progress);
}

std::error_code poll_core::notify_locked(poll_handle& h, poll_event_kind kind, closure& done,
                                         pollset_worker* by) {
    poll_word& word = word_of(h, kind);
    core_lock lock(*this);
    if (word.waiting() != nullptr) {
        done.taken_.store(false, std::memory_order_release);
        return already_waiting();
    }
    if (h.shut_down_) {
        due(h, done, h.shutdown_error_, nullptr, lock);
        run_unowned(h, lock);
        return {};
    }
    if (word.take_latched()) {
        due(h, done, {}, by, lock);
        return {};
    }
    if (!word.arm_guarded(done)) {
        done.taken_.store(false, std::memory_order_release);
        return already_waiting();
    }
    if (h.memberships_ != nullptr) {
        if (auto failed = strategy_->wants_more(h)) {
            word.take();
            done.taken_.store(false, std::memory_order_release);
            return failed;
        }
        word.guard(strategy_->traits.level);
    }
    return {};
}

bool poll_core::cancel(poll_handle& h, closure& done) noexcept {
    core_lock lock(*this);
    for (poll_word& word : h.words_) {
        if (word.waiting() == &done) {
            word.take();
            done.taken_.store(false, std::memory_order_release);
            strategy_->wants_less(h);
            return true;
        }
    }
    return false;
}

void poll_core::make_ready(poll_handle& h, poll_event_kind kind) {
    core_lock lock(*this);
    happened(h, kind, nullptr, lock);
    strategy_->wants_less(h);
}

void poll_core::shutdown(poll_handle& h, std::error_code why) {
    core_lock lock(*this);
    if (!h.shut_down_) {
        end_waits(h, why, lock);
        run_unowned(h, lock);
    }
}

void poll_core::orphan(poll_handle& h, closure& done, unique_fd* released) {
    core_lock lock(*this);
    EDDY_ASSERT(!h.orphaned_, "a poll_handle is orphaned twice");
    take_for_the_end(done);
    h.orphaned_ = true;
    h.on_done_ = &done;
    leave_all(h);
    if (!h.shut_down_) {
        end_waits(h, canceled(), lock);
    }
    free_slot(h);
    if (released != nullptr) {
        *released = std::move(h.fd_);
    }
    ++h.calls_;  // the handle stays until what is due now has been called
    run_unowned(h, lock);
    --h.calls_;
    static_cast<void>(finish_orphan(h, lock));
}

void poll_core::harvest_other(poll_handle* found, interest ready, pollset_worker* by,
                              core_lock& lock) noexcept {
    if (found == nullptr) {
        ++counters_.spurious;
        return;
    }
    poll_handle& h = *found;
    if (&h == timer_handle_.get()) {
        expire(by, lock);
        return;
    }
    if (strategy_->traits.level) {
        harvest_level(h, ready, by, lock);
        return;
    }
    if (any(ready & (read_events | failure))) {
        happened(h, read, by, lock);
    }
    if (any(ready & (interest::writable | failure))) {
        happened(h, write, by, lock);
    }
    if (any(ready & (interest::error | interest::invalid))) {
        happened(h, error, by, lock);
    }
}

/// Harvests a level-triggered event. Only what somebody waits for counts.
void poll_core::harvest_level(poll_handle& h, interest ready, pollset_worker* by,
                              core_lock& lock) noexcept {
    const auto tell = [&](poll_event_kind kind, interest about) {
        if (any(ready & about) && word_of(h, kind).waiting() != nullptr) {
            happened(h, kind, by, lock);
        }
    };
    tell(read, read_events | failure);
    tell(write, interest::writable | failure);
    // poll() always reports a hang-up: if a wait for errors alone ignored it, workers would spin.
    tell(error, failure);
    strategy_->wants_less(h);
}

int poll_core::fd_of(const poll_handle& h) noexcept {
    return read_locked([&] { return h.fd_.get(); });
}

bool poll_core::is_shut_down(const poll_handle& h) noexcept {
    return read_locked([&] { return h.shut_down_; });
}

interest poll_core::wanted(const poll_handle& h) noexcept {
    interest wanted = interest::none;
    if (word_of(h, read).waiting() != nullptr) {
        wanted |= read_events;
    }
    if (word_of(h, write).waiting() != nullptr) {
        wanted |= interest::writable;
    }
    if (word_of(h, error).waiting() != nullptr) {
        wanted |= interest::error;
    }
    return wanted;
}

void poll_core::end_waits(poll_handle& h, std::error_code why, core_lock& lock) noexcept {
    h.shut_down_ = true;
    h.shutdown_error_ = why;
    for (poll_word& word : h.words_) {
        word.guard(true);  // later armings get the error
        if (closure* const waited = word.take()) {
            due(h, *waited, why, nullptr, lock);
        }
    }
    strategy_->wants_less(h);
}

void poll_core::tell(core_lock& lock) noexcept {
    while (to_tell_ != nullptr) {
        pollset& set = *std::exchange(to_tell_, to_tell_->next_to_tell_);
        set.to_tell_ = false;
        if (!set.ready_.empty()) {
            help(set, lock);
        }
    }
}

void poll_core::run_unowned(poll_handle& h, core_lock& lock) {
    if (!h.shut_down_) {
        return;
    }
    while (h.memberships_ == nullptr && !h.due_.empty()) {
        closure& next = h.due_.pop();
        ++h.calls_;
        lock.release();
        next.run();
        lock.acquire();
        --h.calls_;
        if (finish_orphan(h, lock)) {
            return;
        }
    }
}

void poll_core::returned(poll_handle& h) noexcept {
    core_lock lock(*this);
    --h.calls_;
    static_cast<void>(finish_orphan(h, lock));
}

}  // namespace eddy::detail

namespace eddy {

void closure::run_for_handle() {
    struct call_in_progress {
        poll_handle& handle;
        ~call_in_progress() { detail::poll_core::of(handle).returned(handle); }
    };
    const call_in_progress inside{*std::exchange(handle_, nullptr)};
    call_now();
}

}  // namespace eddy
