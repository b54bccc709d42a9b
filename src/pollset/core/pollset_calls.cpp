// SPDX-License-Identifier: Apache-2.0

// Calls workers: from their sleep by a futex, out of the kernel by an eventfd. This is decided
// under the lock, where it is known what each of them does.
#include "pollset/strategies/every_event.hpp"

namespace eddy::detail {

void poll_core::call(pollset_worker& sleeper, core_lock& lock) noexcept {
    station& s = *sleeper.station_;
    s.sleepers.erase(sleeper);
    ++s.called;
    ++sleeper.set_->called_;
    goes_on(sleeper);
    if (s.sentry == &sleeper) {
        s.end_watch();
    }
    // relaxed: ordered by the lock
    if (sleeper.call_.exchange(pollset_worker::called, std::memory_order_relaxed) ==
        pollset_worker::asleep) {
        lock.ring(sleeper.call_);
        ++counters_.thread_wakes;
    }
}

void poll_core::rouse(pollset_worker& w, core_lock& lock) noexcept {
    if (w.state_ == state::waiting) {
        call(w, lock);
    } else if (w.state_ == state::polling) {
        interrupt(*w.station_);
    }
}

void poll_core::interrupt(station& s) noexcept {
    if (s.polling != nullptr && !std::exchange(s.wake_sent, true)) {
        s.poller().wake();
        ++counters_.poller_wakes;
    }
}

void poll_core::help(pollset& set, core_lock& lock) noexcept {
    // A called worker takes something and calls the next, or passes it on. A lead comes round for
    // it, or the sentry does.
    if (set.idle_ == 0 || set.called_ != 0 || is_led(set)) {
        return;
    }
    pollset_worker* in_kernel = nullptr;
    for (pollset_worker* w = set.workers_; w != nullptr; w = w->next_of_set_) {
        if (w->state_ == state::waiting) {
            call(*w, lock);
            return;
        }
        if (w->state_ == state::polling) {
            in_kernel = w;
        }
    }
    if (in_kernel != nullptr) {
        interrupt(*in_kernel->station_);
    }
}

void poll_core::hand_over(station& s, core_lock& lock) noexcept {
    if (s.polling == nullptr && s.called == 0 && s.sentry == nullptr && !s.sleepers.empty()) {
        call(strategy_->successor(s), lock);
    }
}

void poll_core::moved(pollset& set) noexcept {
    for (pollset_worker* w = set.workers_; w != nullptr; w = w->next_of_set_) {
        rouse(*w, *holder_.load(std::memory_order_relaxed));
    }
}

std::error_code poll_core::kick(pollset& set, pollset_worker& w) noexcept {
    core_lock lock(*this);
    if (w.set_ != &set) {
        return std::make_error_code(std::errc::no_such_process);
    }
    w.kicked_ = true;
    rouse(w, lock);
    return {};
}

void poll_core::kick_any(pollset& set) noexcept {
    core_lock lock(*this);
    if (set.workers_ == nullptr) {
        set.kick_kept_ = true;
    } else if (pollset_worker* const w = to_kick(set)) {
        w->kicked_ = true;
        rouse(*w, lock);
    }
}

std::size_t poll_core::wake(pollset& set, std::size_t count) noexcept {
    core_lock lock(*this);
    std::size_t woken = 0;
    while (woken != count) {
        pollset_worker* const w = to_kick(set);
        if (w == nullptr) {
            break;
        }
        w->kicked_ = true;
        rouse(*w, lock);
        ++woken;
    }
    return woken;
}

/// Chooses a worker that was not kicked yet: a sleeper, else one in the kernel, else one that runs
/// something. In the kernel it prefers the deputy, which has come last and is woken first.
pollset_worker* poll_core::to_kick(pollset& set) noexcept {
    pollset_worker* best = nullptr;
    const auto rank = [](const pollset_worker& w) {
        if (w.state_ == state::polling) {
            return w.station_->deputy == &w ? 2 : 1;
        }
        return w.state_ == state::waiting ? 3 : 0;
    };
    for (pollset_worker* w = set.workers_; w != nullptr; w = w->next_of_set_) {
        if (!w->kicked_ && (best == nullptr || rank(*w) > rank(*best))) {
            best = w;
        }
    }
    return best;
}

}  // namespace eddy::detail
