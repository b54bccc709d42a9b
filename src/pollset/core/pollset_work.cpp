// SPDX-License-Identifier: Apache-2.0

// Takes a worker through work(): it runs what is due, polls, stands by or sleeps, and leaves.
#include "kernel/futex.hpp"
#include "kernel/thread.hpp"
#include "pollset/strategies/every_event.hpp"

#include <eddy/base/error.hpp>

#include <algorithm>

namespace eddy::detail {

namespace {

constexpr std::size_t calls_between_waits = 64;
constexpr unsigned looks_before_sleep = 64;

/// The worker whose closure this thread runs: the innermost one, if a closure itself calls work().
[[gnu::tls_model("initial-exec")]] constinit thread_local pollset_worker* running_here = nullptr;

class runs_here {
public:
    explicit runs_here(pollset_worker& w) noexcept : outer_(std::exchange(running_here, &w)) {}
    runs_here(const runs_here&) = delete;
    runs_here& operator=(const runs_here&) = delete;
    ~runs_here() { running_here = outer_; }

private:
    pollset_worker* outer_;
};

}  // namespace

/// Keeps a worker inside a pollset. An exception and the end of the thread take it out too.
class poll_core::presence {
public:
    presence(poll_core& core, pollset& set, pollset_worker& w, const lent_lock& user,
             core_lock& lock) noexcept
        : core_(core), worker_(w), user_(user), lock_(lock) {
        core_.enter(set, w);
        if (user_.object != nullptr) {
            lock_.release();  // the caller's lock may do anything
            user_.unlock(user_.object);
            lock_.acquire();
        }
    }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() {
        if (inside_) {
            thrown_out();
        }
    }

    /// Takes the worker out. Even if a closure that reports an end throws, takes the caller's lock.
    [[gnu::always_inline]] void leave() {
        const relocked at_end{user_};
        inside_ = false;
        core_.exit(worker_, lock_);
        lock_.release();
    }

private:
    EDDY_COLD void thrown_out() { leave(); }

    struct relocked {
        const lent_lock& user;
        ~relocked() {
            if (user.object != nullptr) {
                user.lock(user.object);
            }
        }
    };

    poll_core& core_;
    pollset_worker& worker_;
    const lent_lock& user_;
    core_lock& lock_;
    bool inside_ = true;
};

/// Releases the lock for the call of a closure of `h`. The handle stays until that has returned.
class poll_core::call_in_progress {
public:
    call_in_progress(poll_core& core, poll_handle* h, core_lock& lock) noexcept
        : core_(core), handle_(h), lock_(lock) {
        if (handle_ != nullptr) {
            ++handle_->calls_;
        }
        lock_.release();
    }
    call_in_progress(const call_in_progress&) = delete;
    call_in_progress& operator=(const call_in_progress&) = delete;
    ~call_in_progress() {
        lock_.acquire();
        if (handle_ != nullptr) {
            --handle_->calls_;
            static_cast<void>(core_.finish_orphan(*handle_, lock_));
        }
    }

private:
    poll_core& core_;
    poll_handle* handle_;
    core_lock& lock_;
};

result<work_end> poll_core::work(pollset& set, const lent_lock& user, pollset_worker& w,
                                 time_point deadline) {
    const kernel::uncancelled whole;
    core_lock lock(*this);
    if (w.set_ != nullptr) {
        return std::make_error_code(std::errc::invalid_argument);
    }
    if (set.shut_down_) {
        return work_end::shut_down;
    }
    if (std::exchange(set.kick_kept_, false)) {
        return work_end::kicked;
    }
    presence inside(*this, set, w, user, lock);
    const result<work_end> end = work_inside(set, w, deadline, lock);
    inside.leave();
    return end;
}

inline result<work_end> poll_core::work_inside(pollset& set, pollset_worker& w, time_point deadline,
                                               core_lock& lock) {
    bool looked = false;
    bool quiet = false;
    std::size_t calls = 0;
    for (;;) {
        if (calls == strategy_->traits.closures_max) {
            return work_end::ran;
        }
        const bool leaves_it = is_watched(set) && calls == 0 && deadline != time_point::min() &&
                               is_left_to_the_lead(set, w);
        if (!set.ready_.empty() && !w.kicked_ && !leaves_it) {
            // Handles that are always ready must not starve events that only the kernel knows of.
            if (station& s = *set.station_;
                s.polling == nullptr && s.calls_since_wait >= calls_between_waits) {
                if (auto error = look(s, w, lock)) {
                    return error;
                }
                continue;  // another worker may have taken what was there
            }
            run_next(set, w, lock);
            ++calls;
            continue;
        }
        if (calls != 0) {
            return work_end::ran;
        }
        if (w.kicked_) {
            return work_end::kicked;
        }
        if (set.shut_down_) {
            return work_end::shut_down;
        }
        if (looked && deadline != never && clock::now() >= deadline) {
            return work_end::timed_out;
        }
        looked = true;
        if (deadline != time_point::min() && !leaves_it && is_crowded(set)) {
            strategy_->crowded(set);
        }
        station& s = *set.station_;
        const bool was_quiet = std::exchange(quiet, false);
        if (s.polling != nullptr || leaves_it) {
            if (deadline == time_point::min()) {
                return work_end::timed_out;  // the worker that polls there sees to the kernel
            }
            if (leaves_it || !was_quiet || !may_stand_by(s, w)) {
                quiet = sleep(s, w, deadline, lock);
                continue;
            }
        }
        due_call lone{nullptr, nullptr, no_error_};
        if (auto error = poll(s, w, deadline, lock, &lone)) {
            return error;
        }
        if (lone.next != nullptr) {
            run(lone, set, w, lock);
            ++calls;
            continue;
        }
        if (lock.has_handed()) {
            hand_over(*set.station_, lock);  // `s` may be gone
            lock.flush();
            return work_end::ran;
        }
    }
}

pollset_worker* poll_core::here(const pollset& set) noexcept {
    return running_here != nullptr && running_here->set_ == &set ? running_here : nullptr;
}

inline void poll_core::run_next(pollset& set, pollset_worker& w, core_lock& lock) {
    auto& item = static_cast<work_item&>(set.ready_.pop());
    due_call first{nullptr, nullptr, no_error_};
    if (item.what == work_item::kind::single) {
        first.next = static_cast<single_item&>(item).due;
        first.error = begun(static_cast<single_item&>(item));
    } else {
        poll_handle& h = *static_cast<membership&>(item).handle;
        first.handle = &h;
        first.next = &h.due_.pop();
        if (h.due_.empty()) {
            unqueue(h);
        } else {
            set.ready_.push(item);
        }
    }
    run(first, set, w, lock);
}

inline void poll_core::run(const due_call& what, pollset& set, pollset_worker& w, core_lock& lock) {
    // The closure may take long: other workers see to the rest, and to the kernel.
    see_to_the_rest(set, lock);
    ++set.station_->calls_since_wait;
    set.pace_.ran_one();
    {
        const call_in_progress call(*this, what.handle, lock);
        const runs_here here(w);
        if (what.handle != nullptr) {
            what.next->run();
        } else {
            what.next->run_(*what.next, what.error);
        }
    }
    if (lock.has_handed()) {  // the end of an orphan, before anything else is taken
        lock.flush();
    }
}

inline std::error_code poll_core::poll(station& s, pollset_worker& w, time_point deadline,
                                       core_lock& lock, due_call* lone) {
    if (s.changed) {
        if (auto error = s.before_wait()) {
            return error;
        }
    }
    (s.polling == nullptr ? s.polling : s.deputy) = &w;
    s.calls_since_wait = 0;
    goes_idle(w, s, state::polling);
    ++counters_.waits;
    lock.release();
    io_result found;
    if (const epoll_poller* const epoll = s.epoll()) {
        std::array<epoll_event, events_at_once> events;
        bool woken = false;
        // relaxed, here and below: see heed()
        const std::size_t room = room_.load(std::memory_order_relaxed);
        found = epoll->wait_for(deadline, std::span(events).first(room));
        if (found == io_result::value(events_at_once) && ranked_.load(std::memory_order_relaxed)) {
            woken = look_further(*epoll, events, w, lock);
        } else {
            lock.acquire();
            goes_on(w);
            if (lone != nullptr && found.count() == 1) {
                *lone = take_lone(epoll_poller::told(events[0]), w);
            }
            if (lone == nullptr || lone->next == nullptr) {
                woken = harvest(std::span(events).first(found.count()), w, lock);
            }
        }
        comes_out(s, w, woken);
    } else {
        found = wait_elsewhere(s, w, deadline, lock);
    }
    depart(s, w, lock);
    return found ? no_error_ : found.error();
}

inline bool poll_core::harvest(std::span<const epoll_event> events, pollset_worker& w,
                               core_lock& lock) noexcept {
    bool woken = false;
    for (const epoll_event& event : events) {
        if (event.data.u64 == epoll_poller::wake_token) {
            woken = true;
        } else {
            harvest(epoll_poller::told(event), &w, lock);
        }
    }
    return woken;
}

/// Shows all events under one lock, so that no worker sees a part of them. An error of the second
/// call comes back in the next wait.
bool poll_core::look_further(const epoll_poller& epoll, std::span<const epoll_event> events,
                             pollset_worker& w, core_lock& lock) noexcept {
    std::array<epoll_event, look_limit> more;
    const io_result found =
        epoll.wait_for(time_point::min(), std::span(more).first(look_max_ - events.size()));
    lock.acquire();
    goes_on(w);
    ++counters_.waits;
    const bool woken = harvest(events, w, lock);
    return harvest(std::span(more).first(found.count()), w, lock) || woken;
}

io_result poll_core::wait_elsewhere(station& s, pollset_worker& w, time_point deadline,
                                    core_lock& lock) noexcept {
    std::array<poll_event, look_limit> events;
    bool woken = false;
    const io_result found = s.poller().wait(deadline, std::span(events).first(look_max_), woken);
    lock.acquire();
    goes_on(w);
    comes_out(s, w, woken);
    for (const poll_event& event : std::span(events).first(found.count())) {
        harvest(event, &w, lock);
    }
    return found;
}

/// Notes that `w` has come out. A deputy that stays polls from now on; a wake may have been for it.
inline void poll_core::comes_out(station& s, const pollset_worker& w, bool woken) noexcept {
    s.outings.store(s.outings.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (s.deputy == nullptr) {
        s.polling = nullptr;
        s.wake_sent = false;
        return;
    }
    if (s.polling == &w) {
        s.polling = s.deputy;
    }
    s.deputy = nullptr;
    if (woken) {
        s.wake_sent = false;
        if (is_wanted(*s.polling)) {
            interrupt(s);
        }
    }
}

std::error_code poll_core::look(station& s, pollset_worker& w, core_lock& lock) {
    return poll(s, w, time_point::min(), lock, nullptr);
}

bool poll_core::sleep(station& s, pollset_worker& w, time_point deadline,
                      core_lock& lock) noexcept {
    goes_idle(w, s, state::waiting);
    s.sleepers.push_back(w);
    ++counters_.sleeps;
    if (s.lead == &w) {
        s.lead = nullptr;
    }
    bool quiet = false;
    if (is_to_watch(s, w)) {
        keep_watch(s, w, deadline, lock);
    } else {
        quiet = await_turn(s, w, deadline, lock);
    }
    const bool was_called = w.state_ != state::waiting;
    if (was_called) {
        --s.called;
        --w.set_->called_;
    } else {
        s.sleepers.erase(w);
        goes_on(w);
    }
    depart(s, w, lock);
    return quiet && !was_called;
}

bool poll_core::await_turn(station& s, pollset_worker& w, time_point deadline,
                           core_lock& lock) noexcept {
    // relaxed: the reason for a call is found under the lock
    w.call_.store(pollset_worker::awake, std::memory_order_relaxed);
    const bool may_be_deputy = may_stand_by(s, w);
    // relaxed, here and below: only a hint, as decisions are made under the lock
    const std::uint64_t outings = s.outings.load(std::memory_order_relaxed);
    lock.release();
    wait_a_moment(looks_before_sleep,
                  [&] { return w.call_.load(std::memory_order_relaxed) != pollset_worker::awake; });
    // With a deputy, the next event wakes nobody else. But to fetch a deputy for anything else is
    // expensive, so busy threads have none.
    const bool quiet = may_be_deputy && s.outings.load(std::memory_order_relaxed) == outings;
    std::uint32_t now = pollset_worker::awake;
    if (!quiet &&
        w.call_.compare_exchange_strong(now, pollset_worker::asleep, std::memory_order_relaxed)) {
        kernel::sleep_while(w.call_, pollset_worker::asleep, deadline);
    }
    lock.acquire();
    return quiet;
}

void poll_core::keep_watch(station& s, pollset_worker& w, time_point deadline,
                           core_lock& lock) noexcept {
    // relaxed: the reason for a call is found under the lock
    w.call_.store(pollset_worker::asleep, std::memory_order_relaxed);
    s.sentry = &w;
    time_point now;
    do {
        lock.release();
        const time_point up = saturating_add(clock::now(), pace::window);
        kernel::sleep_while(w.call_, pollset_worker::asleep, std::min(up, deadline));
        now = clock::now();
        lock.acquire();
    } while (s.sentry == &w && now < deadline && w.set_->pace_.is_brisk(now));
    if (s.sentry == &w) {
        s.end_watch();
    }
}

inline void poll_core::enter(pollset& set, pollset_worker& w) noexcept {
    w.set_ = &set;
    w.state_ = state::running;
    w.kicked_ = false;
    w.prev_of_set_ = nullptr;
    w.next_of_set_ = set.workers_;
    if (set.workers_ != nullptr) {
        set.workers_->prev_of_set_ = &w;
    }
    set.workers_ = &w;
    if (strategy_->traits.has_neighbourhoods) {
        strategy_->entered(w);
    }
}

inline void poll_core::exit(pollset_worker& w, core_lock& lock) noexcept {
    pollset& set = *w.set_;
    (w.prev_of_set_ != nullptr ? w.prev_of_set_->next_of_set_ : set.workers_) = w.next_of_set_;
    if (w.next_of_set_ != nullptr) {
        w.next_of_set_->prev_of_set_ = w.prev_of_set_;
    }
    w.set_ = nullptr;
    w.state_ = state::outside;
    if (station& s = *set.station_; s.lead == &w) {
        s.lead = nullptr;
    }
    see_to_the_rest(set, lock);
    finish_shutdown(set, lock);
}

/// Leaves the station after a wait. If the pollset of `w` has moved, the station loses a worker, so
/// another one is called to poll.
inline void poll_core::depart(station& s, pollset_worker& w, core_lock& lock) noexcept {
    if (w.set_->station_ != &s) {
        hand_over(s, lock);
    }
    if (s.retired && s.vacant()) {
        strategy_->vacated(s);
    }
}

void poll_core::shutdown(pollset& set, closure& done) {
    core_lock lock(*this);
    EDDY_ASSERT(!set.shut_down_, "a pollset is shut down twice");
    take_for_the_end(done);
    set.shut_down_ = true;
    leave_all(set, lock);
    end_timers(set, lock);
    lock.flush();  // reports all that has ended before the end itself
    set.on_shut_down_ = &done;
    for (pollset_worker* w = set.workers_; w != nullptr; w = w->next_of_set_) {
        rouse(*w, lock);
    }
    finish_shutdown(set, lock);
}

inline void poll_core::finish_shutdown(pollset& set, core_lock& lock) noexcept {
    if (set.workers_ == nullptr && set.on_shut_down_ != nullptr) {
        lock.hand(*std::exchange(set.on_shut_down_, nullptr), {});
    }
}

}  // namespace eddy::detail
