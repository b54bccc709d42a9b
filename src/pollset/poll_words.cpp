#include "pollset/poll_core.hpp"

#include <eddy/base/error.hpp>

namespace eddy::detail {

namespace {

constexpr std::size_t index(poll_event_kind kind) noexcept {
    return static_cast<std::size_t>(kind);
}

constexpr auto read = poll_event_kind::read;
constexpr auto write = poll_event_kind::write;
constexpr auto error = poll_event_kind::error;

std::error_code canceled() noexcept { return std::make_error_code(std::errc::operation_canceled); }

/// Null for what is not of a handle.
poll_handle* handle_of(const operation& queued) noexcept {
    const auto& item = static_cast<const work_item&>(queued);
    return item.what == work_item::kind::membership ? static_cast<const membership&>(item).handle
                                                    : nullptr;
}

}  // namespace

std::error_code poll_core::notify_on(poll_handle& h, poll_event_kind kind, closure& done,
                                     pollset_worker* by) {
    core_lock lock(*this);
    poll_handle::word& word = h.words_[index(kind)];
    if (word.waiting != nullptr || done.taken_) {
        return std::make_error_code(std::errc::connection_already_in_progress);
    }
    done.taken_ = true;
    if (h.shut_down_) {
        due(h, done, h.shutdown_error_, nullptr, lock);
        run_unowned(h, lock);
    } else if (word.latched) {
        word.latched = false;
        due(h, done, {}, by, lock);
    } else {
        word.waiting = &done;
        if (auto failed =
                h.memberships_ != nullptr ? strategy_->wants_more(h) : std::error_code()) {
            word.waiting = nullptr;
            done.taken_ = false;
            return failed;
        }
    }
    return {};
}

bool poll_core::cancel(poll_handle& h, closure& done) noexcept {
    core_lock lock(*this);
    for (poll_handle::word& word : h.words_) {
        if (word.waiting == &done) {
            word.waiting = nullptr;
            done.taken_ = false;
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
    ++h.calls_;  // it stays until what is due now has been called
    run_unowned(h, lock);
    --h.calls_;
    static_cast<void>(finish_orphan(h, lock));
}

void poll_core::harvest(const poll_event& event, pollset_worker* by, core_lock& lock) noexcept {
    const auto number = static_cast<std::uint32_t>(event.token);
    ++counters_.events;
    if (number >= slots_.size() || slots_[number].handle == nullptr ||
        slots_[number].generation != event.token >> 32) {
        ++counters_.spurious;
        return;
    }
    poll_handle& h = *slots_[number].handle;
    if (&h == timer_handle_.get()) {
        expire(by, lock);
        return;
    }
    const bool level = strategy_->level();
    const interest failure = interest::error | interest::hangup | interest::invalid;
    const auto tell = [&](poll_event_kind kind, interest about) {
        if (any(event.ready & about) && (!level || h.words_[index(kind)].waiting != nullptr)) {
            happened(h, kind, by, lock);
        }
    };
    tell(read, failure | interest::readable | interest::priority | interest::peer_closed);
    tell(write, failure | interest::writable);
    // A level cannot be masked: who waits for errors alone would spin over a hang-up.
    tell(error, level ? failure : interest::error | interest::invalid);
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
    if (h.words_[index(read)].waiting != nullptr) {
        wanted |= interest::readable | interest::priority | interest::peer_closed;
    }
    if (h.words_[index(write)].waiting != nullptr) {
        wanted |= interest::writable;
    }
    if (h.words_[index(error)].waiting != nullptr) {
        wanted |= interest::error;
    }
    return wanted;
}

void poll_core::happened(poll_handle& h, poll_event_kind kind, pollset_worker* by,
                         core_lock& lock) noexcept {
    poll_handle::word& word = h.words_[index(kind)];
    if (word.waiting == nullptr) {
        word.latched = true;
        return;
    }
    due(h, *std::exchange(word.waiting, nullptr), {}, by, lock);
}

void poll_core::end_waits(poll_handle& h, std::error_code why, core_lock& lock) noexcept {
    h.shut_down_ = true;
    h.shutdown_error_ = why;
    for (poll_handle::word& word : h.words_) {
        if (word.waiting != nullptr) {
            due(h, *std::exchange(word.waiting, nullptr), why, nullptr, lock);
        }
    }
    strategy_->wants_less(h);
}

void poll_core::due(poll_handle& h, closure& c, std::error_code why, pollset_worker* by,
                    core_lock& lock) noexcept {
    if (executor_ != nullptr) {
        c.handle_ = &h;
        ++h.calls_;
        lock.hand(c, why);
        return;
    }
    h.due_.push(c, why);
    queue(h, by, lock);
}

void poll_core::queue(poll_handle& h, pollset_worker* by, core_lock& lock) noexcept {
    // Whoever harvests runs what is first in its pollset at once, unless it was kicked: nobody else
    // is called for that. For all else someone is, because what it runs may take its time.
    pollset* const own = by != nullptr ? by->set_ : nullptr;
    const bool runs = own != nullptr && !by->kicked_;
    const operation* const was_first = runs ? own->ready_.front() : nullptr;
    for (membership* m = h.memberships_; m != nullptr; m = m->next_of_handle) {
        if (!ready_queue::contains(*m)) {
            m->set->ready_.push(*m);
        }
    }
    const operation* const first = runs ? own->ready_.front() : nullptr;
    if (was_first != nullptr && was_first != first) {
        tell_of_displaced(*was_first, own, lock);
    }
    if (first == nullptr || handle_of(*first) != &h || !h.due_.has_one()) {
        tell_others(h, own, lock);
    }
}

void poll_core::tell_of_displaced(const operation& was_first, const pollset* own,
                                  core_lock& lock) noexcept {
    if (poll_handle* const displaced = handle_of(was_first)) {
        tell_others(*displaced, own, lock);
    }
}

void poll_core::tell_others(poll_handle& h, const pollset* own, core_lock& lock) noexcept {
    for (membership* m = h.memberships_; m != nullptr; m = m->next_of_handle) {
        if (m->set != own) {
            static_cast<void>(help(*m->set, lock));
        }
    }
}

void poll_core::unqueue(poll_handle& h) noexcept {
    for (membership* m = h.memberships_; m != nullptr; m = m->next_of_handle) {
        if (ready_queue::contains(*m)) {
            m->set->ready_.erase(*m);
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

bool poll_core::finish_orphan(poll_handle& h, core_lock& lock) noexcept {
    if (h.on_done_ == nullptr || h.calls_ != 0 || !h.due_.empty()) {
        return false;
    }
    lock.close(std::move(h.fd_));
    lock.hand(*std::exchange(h.on_done_, nullptr), {});
    return true;
}

void poll_core::returned(poll_handle& h) noexcept {
    core_lock lock(*this);
    --h.calls_;
    static_cast<void>(finish_orphan(h, lock));
}

}  // namespace eddy::detail

namespace eddy {

void closure::run_for_handle() {
    struct call {
        poll_handle& handle;
        ~call() { detail::poll_core::of(handle).returned(handle); }
    };
    const call inside{*std::exchange(handle_, nullptr)};
    run_(*this, error_);
}

}  // namespace eddy
