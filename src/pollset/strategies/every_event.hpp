// SPDX-License-Identifier: Apache-2.0

// Defines inline the functions that each event passes through.
#pragma once

#include "pollset/core/poll_core.hpp"

namespace eddy::detail {

inline std::error_code poll_core::notify_on(poll_handle& h, poll_event_kind kind, closure& done,
                                            pollset_worker* by) {
    if (!take(done)) {
        return already_waiting();
    }
    return word_of(h, kind).arm(done) ? no_error_ : notify_locked(h, kind, done, by);
}

inline poll_handle* poll_core::handle_of(const poll_event& event) const noexcept {
    const auto number = static_cast<std::uint32_t>(event.token);
    return number < slots_.size() && slots_[number].generation == event.token >> 32
               ? slots_[number].handle
               : nullptr;
}

inline poll_core::due_call poll_core::take_lone(const poll_event& event,
                                                const pollset_worker& w) noexcept {
    const due_call none{nullptr, nullptr, no_error_};
    poll_handle* const h = handle_of(event);
    // Between the wait and the lock, `w` may have been kicked, or something else queued.
    if (!is_data(h, event.ready) || executor_ != nullptr || w.kicked_ || is_watched(*w.set_) ||
        !w.set_->ready_.empty()) {
        return none;
    }
    // If the handle had something due already, it would be in that queue.
    if (const membership* const m = h->memberships_; m == nullptr || m->set != w.set_) {
        return none;
    }
    closure* const next = word_of(*h, poll_event_kind::read).take();
    if (next == nullptr) {
        return none;
    }
    ++counters_.events;
    next->error_ = no_error_;
    return {h, next, no_error_};
}

inline void poll_core::to_tell(pollset& set) noexcept {
    if (!std::exchange(set.to_tell_, true)) {
        set.next_to_tell_ = std::exchange(to_tell_, &set);
    }
}

inline void poll_core::show(pollset& set, work_item& item, const pollset_worker* by) noexcept {
    set.ready_.push(item);
    if (by == nullptr || by->set_ != &set) {
        to_tell(set);
    }
}

inline void poll_core::queue(poll_handle& h, const pollset_worker* by) noexcept {
    for (membership* m = h.memberships_; m != nullptr; m = m->next_of_handle) {
        if (!ready_queue::contains(*m)) {
            show(*m->set, *m, by);
        }
    }
}

inline void poll_core::unqueue(poll_handle& h) noexcept {
    for (membership* m = h.memberships_; m != nullptr; m = m->next_of_handle) {
        if (ready_queue::contains(*m)) {
            m->set->ready_.erase(*m);
        }
    }
}

inline void poll_core::due(poll_handle& h, closure& c, const std::error_code& why,
                           pollset_worker* by, core_lock& lock) noexcept {
    if (executor_ != nullptr) {
        c.handle_ = &h;
        ++h.calls_;
        lock.hand(c, why);
        return;
    }
    h.due_.push(c, why);
    queue(h, by);
}

inline bool poll_core::finish_orphan(poll_handle& h, core_lock& lock) noexcept {
    if (h.on_done_ == nullptr || h.calls_ != 0 || !h.due_.empty()) {
        return false;
    }
    lock.close(std::move(h.fd_));
    lock.hand(*std::exchange(h.on_done_, nullptr), {});
    return true;
}

inline void poll_core::happened(poll_handle& h, poll_event_kind kind, pollset_worker* by,
                                core_lock& lock) noexcept {
    if (closure* const waited = word_of(h, kind).happened()) {
        due(h, *waited, no_error_, by, lock);
    }
}

inline bool poll_core::is_data(const poll_handle* h, interest ready) const noexcept {
    return h != nullptr && ready == interest::readable && !strategy_->traits.level &&
           h != timer_handle_.get();
}

inline void poll_core::harvest(const poll_event& event, pollset_worker* by,
                               core_lock& lock) noexcept {
    poll_handle* const h = handle_of(event);
    ++counters_.events;
    if (is_data(h, event.ready)) [[likely]] {
        happened(*h, poll_event_kind::read, by, lock);
    } else {
        harvest_other(h, event.ready, by, lock);
    }
}

/// Calls workers for what is left in the queue, and for polling. A worker that comes for one of
/// these sees to the other too.
inline void poll_core::see_to_the_rest(pollset& set, core_lock& lock) noexcept {
    if (set.idle_ != 0 && !set.ready_.empty() && !is_watched(set)) {
        to_tell(set);
    }
    if (to_tell_ != nullptr) {
        tell(lock);
    }
    if (station& s = *set.station_; s.polling == nullptr && !s.sleepers.empty()) {
        hand_over(s, lock);
    }
}

inline void poll_core::goes_idle(pollset_worker& w, station& s, state how) noexcept {
    w.station_ = &s;
    w.state_ = how;
    ++w.set_->idle_;
}

inline void poll_core::goes_on(pollset_worker& w) noexcept {
    w.state_ = state::running;
    --w.set_->idle_;
}

}  // namespace eddy::detail
