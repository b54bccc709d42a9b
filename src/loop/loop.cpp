// SPDX-License-Identifier: Apache-2.0

// The turns of a loop: run() and its variants, and the look at the kernel.
#include <eddy/loop/loop.hpp>

#include "engine/buffer_pool.hpp"
#include "engine/readiness/readiness_wait.hpp"
#include "kernel/call.hpp"
#include "kernel/fork_mark.hpp"
#include "loop/blocking_call.hpp"
#include "loop/choose_engine.hpp"
#include "loop/patience.hpp"
#include "loop/run_error.hpp"
#include "loop/run_scope.hpp"
#include "loop/stranded_waits.hpp"
#include "loop/system_timers.hpp"

#include <algorithm>

namespace eddy {

namespace {

readiness_engine* performer_of(engine& made) noexcept {
    return made.kind() == engine_kind::io_uring ? nullptr : &static_cast<readiness_engine&>(made);
}

}  // namespace

loop::loop(loop_options options)
    : options_(options),
      engine_(choose_engine(options.engine, ready_)),
      performer_(performer_of(*engine_)),
      leases_(new buffer_pool(
          {.size = options.lease_size, .batch = options.lease_count, .max = options.lease_max},
          *engine_)),
      process_mark_cell_(kernel::process_mark_cell()),
      process_mark_(kernel::process_mark()) {
    prepare_run_errors();
    set_ends(false, false);
    options_.batch_max = std::max<std::size_t>(options_.batch_max, 1);
    engine_->lend_from(*leases_);
    engine_->retry_for(std::min(options_.wait_retry, patience / 2));
    if (options_.starvation_limit != 0) {
        ageing_.emplace(options_.starvation_limit);
    }
    back_off_.owner = timer_owner::back_off;  // uses the place that the loop reserved for itself
}

engine_kind loop::engine() const noexcept { return engine_->kind(); }

std::string_view loop::engine_choice() const noexcept { return engine_->choice(); }

loop_counters loop::counters() const noexcept {
    loop_counters all = counters_;
    all.leases_out = leases_->out();
    if (on_thread()) {
        all.syscalls += kernel::calls_made();
    }
    return all;
}

time_point loop::now() noexcept {
    if (!on_thread()) {
        return clock::now();
    }
    if (turn_now_ == time_point::min()) {
        turn_now_ = clock::now();
    }
    return turn_now_;
}

time_point loop::next_deadline() noexcept {
    take_inbox();
    return next_in_heap();
}

std::size_t loop::run(run_mode mode, run_limits limits) {
    const run_scope scope(*this, limits.until);
    const std::uint64_t before = counters_.completions;
    if (limits.completions < UINT64_MAX - before) {
        completion_limit_ = before + limits.completions;
    }
    for (bool begins = true; !limit_reached(); begins = false) {
        // If something is ready, the turn takes the inbox soon enough. Taking it less often leaves
        // the cache line of its head with the posting threads for longer.
        if (begins || ready_.empty()) {
            take_inbox();
        }
        if (stopping_ && mode != run_mode::drained) {
            break;
        }
        if (stopping_ && !draining_) {
            begin_drain();
        }
        if (draining_ ? idle() : mode == run_mode::empty && empty()) {
            break;
        }
        take_turn(limits.until, options_.batch_max, begins ? look::now : next_look());
        if (limits.until != never && clock::now() >= limits.until) {
            break;
        }
    }
    return static_cast<std::size_t>(counters_.completions - before);
}

std::size_t loop::run_one() {
    const run_scope scope(*this);
    const std::uint64_t before = counters_.completions;
    completion_limit_ = before + 1;
    take_inbox();
    while (!limit_reached() && !stopping_ && !empty()) {
        turn(never, 1);
    }
    return static_cast<std::size_t>(counters_.completions - before);
}

std::size_t loop::run_some() {
    const run_scope scope(*this);
    const std::uint64_t before = counters_.completions;
    take_inbox();
    if (!stopping_ && !empty()) {
        turn(never, options_.batch_max);
    }
    return static_cast<std::size_t>(counters_.completions - before);
}

std::size_t loop::poll() {
    const run_scope scope(*this, time_point::min());
    const std::uint64_t before = counters_.completions;
    take_inbox();
    if (!stopping_) {
        turn(time_point::min(), options_.batch_max);
    }
    return static_cast<std::size_t>(counters_.completions - before);
}

/// Decides if the next turn looks at the kernel. With more to run, a look takes as long as some
/// dozens of short callbacks, so it can wait after a batch of those. An event then waits for
/// `moment` and a batch at most.
loop::look loop::next_look() noexcept {
    constexpr duration moment = std::chrono::microseconds(10);
    constexpr std::size_t many = 64;
    if (ready_.empty() || !after_poll_.empty() || options_.batch_max < many) {
        return look::now;
    }
    turn_now_ = clock::now();
    if (turn_now_ >= looked_at_ && turn_now_ - looked_at_ < moment) {
        return look::later;
    }
    looked_at_ = turn_now_;
    return look::now;
}

/// Runs one turn: looks at the kernel, then runs what is ready. Precondition: something is ready
/// or, unless `at_kernel` is look::later, take_inbox() was called.
[[gnu::always_inline]] inline void loop::take_turn(time_point until, std::size_t budget,
                                                   look at_kernel) {
    check_use();
    ++counters_.turns;
    if (engine_->backing_off()) [[unlikely]] {
        begin_pause();
    }
#ifndef NDEBUG
    until = std::min(until, stranded_waits::look(*this));
#endif
    expire_timers();
    if (ready_.empty() && after_poll_.empty()) {
        harvest(std::min(until, next_in_heap()));
    } else if (at_kernel == look::now) {
        ask_kernel(time_point::min());
    }
    take_after_poll();
    take_inbox();
    expire_timers();
    run_ready(budget);
}

/// Sets the timer that ends a pause, after which whatever backs off tries again.
void loop::begin_pause() noexcept {
    constexpr duration pause = std::chrono::milliseconds(50);
    const time_point end = saturating_add(clock::now(), pause);
    // A refused wait may have set the timer to a later time.
    if (!back_off_.armed() || back_off_.deadline_ns() > end.time_since_epoch().count()) {
        back_off_until(end);
    }
}

void loop::back_off_until(time_point when) noexcept {
    timers_.move(back_off_, when.time_since_epoch().count());
}

void loop::turn(time_point until, std::size_t budget) { take_turn(until, budget, look::now); }

/// Waits until there is something to run. Precondition: there is nothing.
[[gnu::always_inline]] inline void loop::harvest(time_point until) {
    const bool may_sleep = until != time_point::min();
    if (may_sleep && may_spin() && spin(until)) {
        return;
    }
    // The order matters: a push after park() sees that the loop sleeps and wakes it; an earlier
    // push is found by park().
    const bool sleeps = may_sleep && inbox_.park();
    counters_.waits += sleeps ? 1U : 0U;
    look_at_kernel(sleeps ? until : time_point::min());
    end_sleep();
}

/// Marks the loop as awake, so that a post need not wake it. The mark, and its removal before the
/// next wait, take an atomic instruction each: both are left out if nobody has posted during many
/// waits. The next post then wakes the loop once, even if it is awake.
inline void loop::end_sleep() noexcept {
    constexpr unsigned many = 64;
    if (quiet_waits_ < many) {
        ++quiet_waits_;
        inbox_.rouse();
    }
}

/// Looks at the kernel without sleeping. This need not be inlined.
void loop::ask_kernel(time_point until) { look_at_kernel(until); }

[[gnu::always_inline]] inline void loop::look_at_kernel(time_point until) {
    bool woken = false;
    const io_result found = performer_ != nullptr ? performer_->wait_in_line(until, woken)
                                                  : engine_->wait(until, woken);
    turn_now_ = time_point::min();
    counters_.wakes += woken ? 1U : 0U;
    if (!found) {
        wait_failed(found);
    }
}

}  // namespace eddy
