// SPDX-License-Identifier: Apache-2.0

// The timers of a loop: setting, cancelling, expiring and repeating them.
#include "engine/engine.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <new>

namespace eddy {

static_assert(sizeof(timer) <= 128, "a timer has two cache lines");
static_assert(sizeof(local_timer) <= 64, "a local timer has one");

timer_room& timer::room_of(loop& home, timer_clock which) {
    if (which == timer_clock::steady) {
        return *home.timer_room_;
    }
    if (home.system_timers_ == nullptr) {
        home.system_timers_ = std::make_unique<system_timers>(home);
    }
    return home.system_timers_->room();
}

timer::timer(loop& home, callback on_run, callback on_cancel, timer_clock which)
    : timer_base(node_kind::timer, timer_owner::timer, room_of(home, which)),
      on_run_(on_run),
      on_cancel_(on_cancel) {
    system_clock_ = which == timer_clock::system;
}

timer::~timer() {
    EDDY_ASSERT(
        !armed() && wanted_ns_.load(std::memory_order_relaxed) == no_command,
        "a timer was destroyed while it was armed: disarm() it, or cancel() it and wait for "
        "its on_cancel first");
}

local_timer::local_timer(loop& home, callback on_run)
    : timer_base(node_kind::local_timer, timer_owner::local_timer, *home.timer_room_),
      on_run_(on_run) {}

local_timer::~local_timer() {
    EDDY_ASSERT(!armed(), "a timer was destroyed while it was armed: disarm() it first");
}

void timer_base::set_priority(priority_level priority) noexcept {
    EDDY_ASSERT(!queued_ && priority < priority_count, "bad time or value for a priority");
    priority_ = priority;
}

void loop::set(timer& t, std::int64_t when_ns) noexcept {
    // Fast path for the loop's thread and an ordinary timer.
    if (!lost_by_fork() && on_thread() && t.room_ == open_room_ && !t.armed() && nothing_told(t)) {
        ++work_;
        timers_.insert(t.node_, when_ns);
        return;
    }
    set_slowly(t, when_ns);
}

void loop::set_slowly(timer& t, std::int64_t when_ns) noexcept {
    EDDY_ASSERT(!t.system_clock_, "a system-clock timer needs a system time");
    command(t, timer::as_deadline(when_ns));
}

/// Asserts that this thread runs the loop, or that none does.
inline void loop::check_thread() noexcept {
    check_use();
    if (!on_thread()) {
        EDDY_ASSERT(!running_.load(std::memory_order_relaxed),
                    "a local timer was set by a thread that does not run its loop");
        attend();
    }
}

void loop::set_slowly(local_timer& t, std::int64_t when_ns) noexcept {
    EDDY_ASSERT(&t.home() == this, "a timer was set on a loop that it does not belong to");
    check_thread();
    if (ends()) {
        return;
    }
    if (t.queued_) {
        ready_.erase(t);  // it was due and is set again
    } else if (!t.node_.armed()) {
        ++work_;
    }
    timers_.move(t.node_, when_ns);
}

void loop::post_at(system_time_point when, timer& t) noexcept {
    EDDY_ASSERT(t.system_clock_, "a steady-clock timer needs a steady time");
    command(t, timer::as_deadline(when.time_since_epoch().count()));
}

void loop::cancel(timer& t) noexcept { command(t, timer::cancel_command); }

void loop::command(timer& t, std::int64_t wanted_ns) noexcept {
    check_use();
    EDDY_ASSERT(&t.home() == this, "a timer was set on a loop that it does not belong to");
    if (on_thread()) {
        // An older command of another thread comes first. A command that is being given right now
        // may come before or after this one.
        static_cast<void>(away_from_inbox(t));
        apply(t, wanted_ns);
    } else {
        tell(t, wanted_ns);
    }
}

/// Leaves a command for the loop. Thread: any other.
void loop::tell(timer& t, std::int64_t wanted_ns) noexcept {
    std::int64_t before = t.wanted_ns_.load(std::memory_order_relaxed);
    do {
        if (before == timer::cancel_command) {
            return;  // only its on_cancel comes after a cancellation
        }
        // acq_rel: pairs with take(). The thread that replaces no_command owns the node.
    } while (!t.wanted_ns_.compare_exchange_weak(before, wanted_ns, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed));
    if (before == timer::no_command && inbox_.push(t.command_)) {
        engine_->wake();
    }
}

void loop::apply(timer& t, std::int64_t wanted_ns) noexcept {
    if (t.cancelling_ || wanted_ns == timer::no_command) {
        return;
    }
    if (!t.armed()) {
        ++work_;
    }
    if (wanted_ns == timer::cancel_command || ends()) {
        begin_cancel(t);
        return;
    }
    if (t.queued_) {
        ready_.erase(t);  // it was due and is set again
    }
    if (!t.system_clock_) {
        timers_.move(t.node_, wanted_ns);
    } else {
        system_timers_->heap().move(t.node_, wanted_ns);
        system_timers_->update();
    }
}

void loop::begin_cancel(timer& t) noexcept {
    t.cancelling_ = true;
    if (t.node_.armed()) {
        t.room_->heap.erase(t.node_);
    }
    if (!t.queued_) {
        ready_.push(t);
    }
}

/// Applies another thread's command for `t`. False: that thread is still about to push it.
bool loop::away_from_inbox(timer& t) noexcept {
    // relaxed: take() reads it with acquire.
    if (t.wanted_ns_.load(std::memory_order_relaxed) == timer::no_command) {
        return true;
    }
    attend();  // once the inbox is taken, a push wakes nobody
    take_inbox();
    return t.wanted_ns_.load(std::memory_order_relaxed) == timer::no_command;
}

bool loop::disarm_slowly(timer& t) noexcept {
    EDDY_ASSERT(&t.home() == this, "a timer was disarmed on a loop that it does not belong to");
    static_cast<void>(away_from_inbox(t));
    return take_out(t);
}

bool loop::disarm_slowly(local_timer& t) noexcept {
    EDDY_ASSERT(&t.home() == this, "a timer was disarmed on a loop that it does not belong to");
    return take_out(t);
}

bool loop::take_out(timer_base& t) noexcept {
    if (t.node_.armed()) {
        t.room_->heap.erase(t.node_);
    } else if (t.queued_) {
        ready_.erase(t);
        t.cancelling_ = false;
    } else {
        return false;
    }
    --work_;
    return true;
}

void loop::pop_due_timers() noexcept {
    const std::int64_t now_ns = now().time_since_epoch().count();
    while (timer_node* const node = timers_.pop_due(now_ns)) {
        switch (node->owner) {
            case timer_owner::local_timer:
                node->forget_deadline();  // by which post_at() knows an unarmed timer
                [[fallthrough]];
            case timer_owner::timer:
                due(timer_base::of(*node));
                break;
            case timer_owner::io_limit:
                engine_->cancel(detail::owner_of<&timed_io_operation::limit_>(*node),
                                end_reason::timed_out);
                break;
            case timer_owner::back_off:
                end_back_off();
                break;
        }
    }
}

void loop::due(timer_base& t) noexcept {
    if (!t.queued_) {
        ready_.push(t);
    }
}

void loop::dispatch(timer& t) noexcept {
    if (t.cancelling_ && !away_from_inbox(t)) {
        ready_.push(t);  // another thread still has the timer, which on_cancel may destroy
        return;
    }
    ++counters_.completions;
    --work_;
    timer::callback callback = t.on_run_;
    if (t.cancelling_) {
        t.cancelling_ = false;
        callback = t.on_cancel_;
    } else {
        ++counters_.timers_fired;
        t.expirations_ = 1;
        if (t.interval_ns_ > 0) {
            repeat(t);
        }
    }
    if (callback != nullptr) {
        callback(t);
    }
}

void loop::dispatch(local_timer& t) noexcept {
    ++counters_.completions;
    ++counters_.timers_fired;
    --work_;
    t.on_run_(t);
}

/// Sets an interval timer to its first deadline that is not past, and counts those that are.
void loop::repeat(timer& t) noexcept {
    std::int64_t now_ns = now().time_since_epoch().count();
    if (t.system_clock_) {
        const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
        now_ns = std::chrono::duration_cast<duration>(since_epoch).count();
    }
    const std::int64_t due_ns = t.node_.deadline_ns();  // the deadline for which it fires
    // Unsigned: a signed number does not hold the span from one end of the clock to the other.
    const auto interval = static_cast<std::uint64_t>(t.interval_ns_);
    std::uint64_t late = 0;
    if (now_ns > due_ns) {
        late = static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(due_ns);
    }
    t.expirations_ = late / interval + 1;
    const auto next = saturating_add(time_point(duration(std::max(now_ns, due_ns))),
                                     duration(interval - late % interval));
    apply(t, timer::as_deadline(next.time_since_epoch().count()));
}

}  // namespace eddy
