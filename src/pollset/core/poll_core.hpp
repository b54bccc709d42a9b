// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pollset/core/membership.hpp"
#include "pollset/core/moment.hpp"
#include "pollset/strategies/station.hpp"
#include "pollset/strategies/strategy.hpp"

#include <eddy/base/assert.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/base/detail/exchange_if.hpp>
#include <eddy/intrusive/timer_heap.hpp>
#include <eddy/pollset/poll_domain.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset.hpp>
#include <eddy/pollset/pollset_set.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <vector>

namespace eddy {
class pollset_timer;
}

namespace eddy::detail {

class poll_core;

/// Holds the domain's lock, and does after its release what was decided under it.
class core_lock {
public:
    inline explicit core_lock(poll_core& core) noexcept;
    core_lock(const core_lock&) = delete;
    core_lock& operator=(const core_lock&) = delete;
    inline ~core_lock();

    inline void acquire() noexcept;
    /// Releases the lock. Before that, calls workers for what was shown in their pollsets and is
    /// left. After it, wakes these workers, closes an fd, and runs the closures that were handed
    /// in, or gives them to the executor. If a closure throws, the next release runs the others.
    inline void release();
    /// Does what release() does, then takes the lock again, even if a closure throws.
    void flush();

    /// Wakes a sleeping worker after the release. It may be gone by then: only the address is used.
    void ring(const std::atomic<std::uint32_t>& word) noexcept;
    /// Closes `fd` after the release, as that can take long, but before closures are run.
    void close(unique_fd fd) noexcept {
        closing_ = std::move(fd);
        more_ = true;
    }
    /// Runs `c`, or gives it to the executor, after the release.
    void hand(closure& c, std::error_code error) noexcept {
        handed_.push(c, error);
        more_ = true;
    }
    bool has_handed() const noexcept { return !handed_.empty(); }

private:
    static constexpr unsigned looks_at_the_lock = 128;

    void wait_for_it() noexcept;
    inline void unlock() noexcept;
    void release_and_do();

    poll_core& core_;
    bool held_ = false;
    bool more_ = false;  ///< there is something to do when the lock is free
    std::size_t rings_ = 0;
    std::array<const std::atomic<std::uint32_t>*, 16> to_ring_;
    closure_list handed_;
    unique_fd closing_;
};

/// The heart of a domain: all the protocols between handles, pollsets and workers, under one lock.
/// A function that takes a core_lock is called with the lock held.
class poll_core {
public:
    explicit poll_core(const poll_domain_options& options) noexcept;
    ~poll_core();
    std::error_code open(poll_strategy kind) noexcept;

    bool forked() const noexcept {
        // relaxed: no other data depends on the number, which the kernel wipes in a child
        return process_mark_ != mark_now_.load(std::memory_order_relaxed);
    }
    poll_strategy kind() const noexcept { return strategy_->traits.kind; }
    poll_counters counters() noexcept;

    // Handles: poll_words.cpp, every_event.hpp.
    /// Arms `done`. If a worker calls this as the last act of a closure, it is `by`: it comes round
    /// for what is due at once, or passes it on when it leaves.
    inline std::error_code notify_on(poll_handle& h, poll_event_kind kind, closure& done,
                                     pollset_worker* by = nullptr);
    /// Returns the worker of `set` that is running a closure on this thread, or null.
    static pollset_worker* here(const pollset& set) noexcept;
    bool cancel(poll_handle& h, closure& done) noexcept;
    void make_ready(poll_handle& h, poll_event_kind kind);
    void shutdown(poll_handle& h, std::error_code why);
    void orphan(poll_handle& h, closure& done, unique_fd* released);
    /// Notes that an executor has run a closure of `h`.
    void returned(poll_handle& h) noexcept;
    int fd_of(const poll_handle& h) noexcept;
    bool is_shut_down(const poll_handle& h) noexcept;

    // Handles in pollsets: memberships.cpp.
    std::error_code add(pollset& set, poll_handle& h) noexcept;
    std::error_code remove(pollset& set, poll_handle& h);
    void leave_all(poll_handle& h) noexcept;
    void leave_all(pollset& set, core_lock& lock);
    std::error_code open(pollset& set) noexcept;
    void close(pollset& set) noexcept;

    // Sets of pollsets: set_graph.cpp.
    std::error_code open(pollset_set& bag) noexcept;
    void close(pollset_set& bag);
    std::error_code add(pollset_set& bag, poll_handle& h);
    std::error_code add(pollset_set& bag, pollset& set);
    std::error_code add(pollset_set& bag, pollset_set& item);
    std::error_code remove(pollset_set& bag, poll_handle& h);
    std::error_code remove(pollset_set& bag, pollset& set);
    std::error_code remove(pollset_set& bag, pollset_set& item);

    // Timers: poll_timers.cpp.
    std::error_code open(pollset_timer& timer) noexcept;
    void close(pollset_timer& timer) noexcept;
    std::error_code set(pollset_timer& timer, time_point when) noexcept;
    bool cancel(pollset_timer& timer) noexcept;

    // Workers: pollset_work.cpp.
    result<work_end> work(pollset& set, const lent_lock& user, pollset_worker& w,
                          time_point deadline);
    void shutdown(pollset& set, closure& done);

    // Calling workers: pollset_calls.cpp.
    std::error_code kick(pollset& set, pollset_worker& w) noexcept;
    void kick_any(pollset& set) noexcept;
    std::size_t wake(pollset& set, std::size_t count) noexcept;

    static poll_core& of(pollset& set) noexcept { return *set.core_; }
    static poll_core& of(const poll_handle& h) noexcept { return *h.core_; }

    // For strategies.
    static std::uint64_t token_of(const poll_handle& h) noexcept {
        return std::uint64_t{h.generation_} << 32 | static_cast<std::uint32_t>(h.fd_.get());
    }
    static int fd(const poll_handle& h) noexcept { return h.fd_.get(); }
    /// Returns `operation_not_permitted` for a file that epoll refuses because it is always ready,
    /// such as a regular file or /dev/null.
    static std::error_code refuse_file(int fd) noexcept;
    /// The events that closures wait for now.
    static interest wanted(const poll_handle& h) noexcept;
    static interest& registered(poll_handle& h) noexcept { return h.registered_; }
    static station*& place_of(pollset& set) noexcept { return set.station_; }
    /// True if a strategy that moves pollsets no longer moves this one.
    static bool& stays(pollset& set) noexcept { return set.stays_; }
    static station*& own_station(poll_handle& h) noexcept { return h.station_; }
    static unsigned& neighbourhood_of(pollset& set) noexcept { return set.neighbourhood_; }
    static pollset& set_of(pollset_worker& w) noexcept { return *w.set_; }
    /// True if no other worker is in the pollset of `w`.
    static bool is_alone(const pollset_worker& w) noexcept {
        return w.next_of_set_ == nullptr && w.prev_of_set_ == nullptr;
    }
    static membership* memberships_of(poll_handle& h) noexcept { return h.memberships_; }
    static membership* memberships_of(pollset& set) noexcept { return set.memberships_; }
    void count_registration() noexcept { ++counters_.registrations; }
    /// Sends the workers of `set` to the station that it has now.
    void moved(pollset& set) noexcept;
    /// Makes a worker that polls at `s` come out, to see what has changed.
    void interrupt(station& s) noexcept;

private:
    struct slot {
        poll_handle* handle = nullptr;
        std::uint32_t generation = 0;
    };
    using state = pollset_worker::state;
    class presence;
    class call_in_progress;
    /// A closure that was taken out to be called, and the handle that it belongs to.
    struct due_call {
        poll_handle* handle;    ///< null for a timer
        closure* next;          ///< null if there is none
        std::error_code error;  ///< for a timer; the closure of a handle has its own
    };

    /// Reads under the lock, but not in a forked child, where a vanished thread may hold it.
    template <class Read>
    auto read_locked(Read&& read) noexcept {
        std::unique_lock lock(mutex_, std::defer_lock);
        if (!forked()) {
            lock.lock();
        }
        return read();
    }
    /// Marks that `done` waits. Returns false if it does already.
    static bool take(closure& done) noexcept {
        return exchange_if(done.taken_, false, true, std::memory_order_acquire);
    }
    static std::error_code already_waiting() noexcept;
    /// Marks a closure that is called at an end. It must be free, or its list would be torn.
    static void take_for_the_end(closure& done) noexcept {
        const bool was_free = take(done);
        EDDY_ASSERT(was_free, "a closure that waits already is to be told an end");
    }
    /// Makes the strategy. A refusal by the kernel becomes errc::strategy_denied.
    std::error_code made_by(strategy_maker* make) noexcept;

    /// Notes that something with `priority` comes to the domain. Once there are several priorities,
    /// a look takes all that is ready before any of it is run.
    void heed(priority_level priority) noexcept;

    // every_event.hpp
    /// Returns the handle that the event is for, or null if it is gone.
    inline poll_handle* handle_of(const poll_event& event) const noexcept;
    /// Takes out the closure for an event that came alone and need not queue: nothing else is due.
    inline due_call take_lone(const poll_event& event, const pollset_worker& w) noexcept;
    /// True if an event says that there is data and no more, as most do.
    inline bool is_data(const poll_handle* h, interest ready) const noexcept;
    inline void harvest(const poll_event& event, pollset_worker* by, core_lock& lock) noexcept;
    inline void happened(poll_handle& h, poll_event_kind kind, pollset_worker* by,
                         core_lock& lock) noexcept;
    template <class Handle>
    static auto& word_of(Handle& h, poll_event_kind kind) noexcept {
        return h.words_[static_cast<std::size_t>(kind)];
    }

    // poll_words.cpp
    /// Does the rest of notify_on() for a word that is not quiet.
    std::error_code notify_locked(poll_handle& h, poll_event_kind kind, closure& done,
                                  pollset_worker* by);
    inline void due(poll_handle& h, closure& c, const std::error_code& error, pollset_worker* by,
                    core_lock& lock) noexcept;
    void harvest_other(poll_handle* found, interest ready, pollset_worker* by,
                       core_lock& lock) noexcept;
    void harvest_level(poll_handle& h, interest ready, pollset_worker* by,
                       core_lock& lock) noexcept;
    void end_waits(poll_handle& h, std::error_code why, core_lock& lock) noexcept;
    /// Shows the handle in each of its pollsets.
    inline void queue(poll_handle& h, const pollset_worker* by) noexcept;
    /// Queues `item`, and calls a worker of `set` for it before the release, unless `by` is one of
    /// them: it is about to take the first item, or to leave.
    inline void show(pollset& set, work_item& item, const pollset_worker* by) noexcept;
    /// Notes that a worker of `set` is called before the release, if something is left there then.
    inline void to_tell(pollset& set) noexcept;
    void tell(core_lock& lock) noexcept;
    static inline void unqueue(poll_handle& h) noexcept;
    /// Runs what is due for a handle that has ended and that no pollset holds.
    void run_unowned(poll_handle& h, core_lock& lock);
    /// Ends an orphan with no closure due or running. True if it may be gone after the release.
    inline bool finish_orphan(poll_handle& h, core_lock& lock) noexcept;

    // memberships.cpp
    static std::error_code refuse_signalfd(int fd) noexcept;
    std::error_code claim_slot(poll_handle& h) noexcept;
    void free_slot(poll_handle& h) noexcept;
    std::error_code join(pollset& set, poll_handle& h, bool membership::* reason) noexcept;
    /// Takes one reason for a membership away, and with the last one the membership.
    void part(membership& m, bool membership::* reason, core_lock& lock);
    void leave(membership& m) noexcept;
    static membership* find(poll_handle& h, pollset& set) noexcept;
    static void link(membership& m) noexcept;
    static void unlink(membership& m) noexcept;

    // set_graph.cpp
    template <class Visitor>
    void walk(pollset_set& from, std::vector<pollset_set*> pollset_set::* ties,
              Visitor&& visit) noexcept;
    std::error_code reconcile(poll_handle& h) noexcept;
    std::error_code reconcile_above(pollset_set& bag) noexcept;
    static bool is_stranded(const poll_handle& h) noexcept {
        return h.memberships_ == nullptr && h.shut_down_ && !h.due_.empty();
    }
    void run_stranded(core_lock& lock);
    void leave_sets(poll_handle& h) noexcept;
    void leave_sets(pollset& set) noexcept;

    // poll_timers.cpp
    bool take_back(pollset_timer& timer) noexcept;
    void set_timerfd(std::int64_t deadline_ns) noexcept;
    void expire(pollset_worker* by, core_lock& lock) noexcept;
    std::error_code taken(single_item& item) noexcept;
    std::error_code begun(single_item& item) noexcept;
    void end_timers(pollset& set, core_lock& lock);

    // pollset_work.cpp. After a system call the processor mispredicts every enclosing return, so
    // the functions between `work` and the wait, or a closure, are inlined.
    [[gnu::always_inline]] inline result<work_end> work_inside(pollset& set, pollset_worker& w,
                                                               time_point deadline,
                                                               core_lock& lock);
    [[gnu::always_inline]] inline void run_next(pollset& set, pollset_worker& w, core_lock& lock);
    [[gnu::always_inline]] inline void run(const due_call& what, pollset& set, pollset_worker& w,
                                           core_lock& lock);
    /// Waits, and queues what has come. If `lone` is not null, the closure for an event that came
    /// alone goes there instead, to be called next.
    [[gnu::always_inline]] inline std::error_code poll(station& s, pollset_worker& w,
                                                       time_point deadline, core_lock& lock,
                                                       due_call* lone);
    /// Queues what `events` make due. Returns true if a wake() was among them.
    [[gnu::always_inline]] inline bool harvest(std::span<const epoll_event> events,
                                               pollset_worker& w, core_lock& lock) noexcept;
    /// Harvests a look that had no room for more, with everything else that is ready.
    EDDY_COLD bool look_further(const epoll_poller& epoll, std::span<const epoll_event> events,
                                pollset_worker& w, core_lock& lock) noexcept;
    /// Waits and harvests with a poller that does not use epoll.
    io_result wait_elsewhere(station& s, pollset_worker& w, time_point deadline,
                             core_lock& lock) noexcept;
    /// Does what poll() does, without waiting.
    EDDY_COLD std::error_code look(station& s, pollset_worker& w, core_lock& lock);
    /// Waits for a turn. Returns true if nothing happened for a moment, so that `w` may stand by.
    bool sleep(station& s, pollset_worker& w, time_point deadline, core_lock& lock) noexcept;
    /// Sleeps until called. Returns true, still awake, if nobody came out of the kernel at first.
    bool await_turn(station& s, pollset_worker& w, time_point deadline, core_lock& lock) noexcept;
    /// Sleeps as the sentry, for as long as the pollset makes headway and nobody calls.
    void keep_watch(station& s, pollset_worker& w, time_point deadline, core_lock& lock) noexcept;
    inline void comes_out(station& s, const pollset_worker& w, bool woken) noexcept;
    inline void enter(pollset& set, pollset_worker& w) noexcept;
    inline void exit(pollset_worker& w, core_lock& lock) noexcept;
    inline void depart(station& s, pollset_worker& w, core_lock& lock) noexcept;
    /// Marks `w` as idle at `s`, from where it can be fetched.
    static inline void goes_idle(pollset_worker& w, station& s, state how) noexcept;
    /// Marks an idle worker as running.
    static inline void goes_on(pollset_worker& w) noexcept;
    /// True if `w` may wait in the kernel beside the worker that polls: not while a wake is on its
    /// way, which `w` could take, and not before a worker of another pollset that waits longest.
    bool may_stand_by(const station& s, const pollset_worker& w) const noexcept {
        return strategy_->traits.has_deputies && s.sentry == nullptr && s.deputy == nullptr &&
               !s.wake_sent && s.polling->set_ == w.set_ &&
               (s.sleepers.empty() || s.sleepers.front()->set_ == w.set_);
    }
    /// True if a sentry makes sure that what is left in `set` does not wait for long.
    static bool is_watched(const pollset& set) noexcept {
        const pollset_worker* const sentry = set.station_->sentry;
        return sentry != nullptr && sentry->set_ == &set;
    }
    /// True if, besides the sentry, a lead is awake and comes round for what is left in `set`.
    static bool is_led(const pollset& set) noexcept {
        const pollset_worker* const lead = set.station_->lead;
        return is_watched(set) && lead != nullptr && lead->state_ == state::running;
    }
    /// True if `w` leaves a watched pollset to its lead. If there is no lead, `w` becomes it.
    static bool is_left_to_the_lead(const pollset& set, pollset_worker& w) noexcept {
        if (set.station_->lead == nullptr) {
            set.station_->lead = &w;
        }
        return set.station_->lead != &w && is_led(set);
    }
    /// True if `w` is to sleep as the sentry of `s`.
    bool is_to_watch(const station& s, const pollset_worker& w) const noexcept {
        return strategy_->traits.has_sentries && s.sentry == nullptr &&
               w.set_->pace_.is_brisk(clock::now());
    }
    /// True if `w`, which is in the kernel, has something to do elsewhere.
    static bool is_wanted(const pollset_worker& w) noexcept {
        return w.kicked_ || w.set_->shut_down_ || w.set_->station_ != w.station_;
    }
    /// True if a worker of `set` would have to wait for a worker of another pollset.
    bool is_crowded(const pollset& set) const noexcept {
        const pollset_worker* const there = set.station_->polling;
        return strategy_->traits.spreads && there != nullptr && there->set_ != &set;
    }
    inline void finish_shutdown(pollset& set, core_lock& lock) noexcept;

    // pollset_calls.cpp
    void call(pollset_worker& sleeper, core_lock& lock) noexcept;
    void rouse(pollset_worker& w, core_lock& lock) noexcept;
    /// Calls a worker of `set` for what is due there, if it has an idle one.
    void help(pollset& set, core_lock& lock) noexcept;
    /// Makes sure that a worker polls at `s`, if any is there.
    void hand_over(station& s, core_lock& lock) noexcept;
    inline void see_to_the_rest(pollset& set, core_lock& lock) noexcept;
    static pollset_worker* to_kick(pollset& set) noexcept;

    // These seldom change and are read without the lock, so they are apart from what is written.
    closure_executor* executor_;
    std::uint64_t process_mark_;
    const std::atomic<std::uint64_t>& mark_now_;
    std::unique_ptr<strategy> strategy_;
    const std::error_code no_error_;
    const std::size_t look_max_;        ///< events that one look may take
    std::atomic<std::size_t> room_{0};  ///< for events, in the first call of a look
    std::atomic<bool> ranked_{false};   ///< a look that had no room for more looks further

    alignas(64) std::mutex mutex_;
    /// The holder of the lock, or null. A thread that waits for the lock looks here first.
    std::atomic<core_lock*> holder_{nullptr};
    pollset* to_tell_ = nullptr;  ///< pollsets in which something was shown under this lock
    poll_counters counters_;
    std::vector<slot> slots_;  ///< by fd number
    std::vector<pollset_set*> all_sets_;
    bool stranded_ = false;   ///< a handle that nobody serves may have something due
    std::uint64_t walk_ = 0;  ///< the number of the last walk over the sets
    timer_heap timers_;
    std::unique_ptr<poll_handle> timer_handle_;  ///< made with the first timer
    std::int64_t timerfd_ns_ = INT64_MAX;        ///< the deadline that it is set to

    friend class core_lock;
    friend class eddy::pollset_set;
};

inline core_lock::core_lock(poll_core& core) noexcept : core_(core) { acquire(); }

inline core_lock::~core_lock() {
    if (held_) {
        release();
    }
}

inline void core_lock::acquire() noexcept {
    // relaxed, here and below: the lock orders, and this is only a hint
    if (core_.holder_.load(std::memory_order_relaxed) == nullptr) {
        core_.mutex_.lock();
    } else {
        wait_for_it();
    }
    core_.holder_.store(this, std::memory_order_relaxed);
    held_ = true;
}

inline void core_lock::unlock() noexcept {
    held_ = false;
    core_.holder_.store(nullptr, std::memory_order_relaxed);
    core_.mutex_.unlock();
}

inline void core_lock::release() {
    if (core_.to_tell_ != nullptr) {
        core_.tell(*this);
    }
    if (more_) {
        release_and_do();
    } else {
        unlock();
    }
}

}  // namespace eddy::detail
