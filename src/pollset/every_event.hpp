#pragma once

#include "pollset/poll_core.hpp"

// What each event passes through, in line.

namespace eddy::detail {

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

/// Somebody else sees to what is left in the queue, and to the kernel. Who comes for the one sees
/// to the other.
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
