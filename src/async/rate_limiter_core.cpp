// SPDX-License-Identifier: Apache-2.0

// Hands out the tokens of a rate limiter, and passes the turn from waiter to waiter.
#include <eddy/async/detail/sync/rate_limiter_core.hpp>

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace eddy::detail {

namespace {

duration cost_of_one(rate_limit limit) noexcept {
    EDDY_ASSERT(limit.tokens != 0 && limit.burst != 0 && limit.per > duration::zero(),
                "a rate limiter needs at least one token, some time and a burst");
    const auto cost = limit.per / static_cast<duration::rep>(limit.tokens);
    duration::rep all = 0;
    EDDY_ASSERT(cost > duration::zero() && !__builtin_mul_overflow(cost.count(), limit.burst, &all),
                "a rate limiter cannot count tokens so fast, or so many of them");
    return cost;
}

}  // namespace

rate_waiter::owned_timer::owned_timer(loop& home, rate_waiter* waiter)
    : timer(home, &on_due, &on_cancel), owner(waiter) {}

bool rate_waiter::make_timer() noexcept try {
    EDDY_ASSERT(home() != nullptr,
                "a rate limiter has to wait, which needs a timer: acquire from it on a loop");
    timer_.emplace(*home(), this);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void rate_waiter::on_turn(entry& e) noexcept {
    rate_waiter& self = owner_of<&rate_waiter::turn_>(e);
    self.core_->turn_came(self);
    self.core_->have_turn(self);
}

void rate_waiter::on_due(timer& t) noexcept {
    rate_waiter& self = *static_cast<owned_timer&>(t).owner;
    self.core_->have_turn(self);
}

void rate_waiter::on_cancel(timer& t) noexcept {
    rate_waiter& self = *static_cast<owned_timer&>(t).owner;
    self.core_->give_up(self);
}

/// Disarms the turn and the timer. Thread: that of its loop.
void rate_waiter::calm() noexcept {
    if (home() == nullptr) return;
    if (turn_.posted()) home()->disarm(turn_);
    if (timer_ && timer_->armed()) home()->disarm(*timer_);
}

rate_limiter_core::rate_limiter_core(rate_limit limit) noexcept
    : burst_(limit.burst), cost_(cost_of_one(limit)) {}

bool rate_limiter_core::take(std::size_t n, time_point now) noexcept {
    if (now < ready_at(n)) return false;
    full_at_ = saturating_add(std::max(full_at_, now), cost_ * static_cast<duration::rep>(n));
    return true;
}

/// Returns the time at which the bucket holds `n` tokens.
time_point rate_limiter_core::ready_at(std::size_t n) const noexcept {
    return saturating_add(full_at_, -cost_ * static_cast<duration::rep>(burst_ - n));
}

bool rate_limiter_core::try_acquire(std::size_t n) noexcept {
    const std::lock_guard lock(mutex_);
    return n <= burst_ && waiting_.empty() && take(n, clock::now());
}

bool rate_limiter_core::enter(rate_waiter& node, bool may_wait) noexcept {
    const std::lock_guard lock(mutex_);
    if (node.how() == waiter::state::stopped) return true;
    if (node.wanted > burst_) {
        node.error = std::make_error_code(std::errc::invalid_argument);
        return decide(node, waiter::state::closed);
    }
    if (waiting_.empty() && take(node.wanted, clock::now())) {
        return decide(node, waiter::state::granted);
    }
    if (!may_wait) return false;
    if (!node.make_timer()) {
        node.error = std::make_error_code(std::errc::not_enough_memory);
        return decide(node, waiter::state::closed);
    }
    // The timers of the other waiters only serve to notice a drain.
    const time_point turn = waiting_.empty() ? ready_at(node.wanted) : never;
    waiting_.wait(node);
    node.home()->post_at(turn, *node.timer_);
    return false;
}

/// Gives the turn to the first waiter, which may have changed.
void rate_limiter_core::next_turn() noexcept {
    if (waiting_.empty()) return;
    auto& first = static_cast<rate_waiter&>(waiting_.front());
    if (std::exchange(first.turn_posted_, true)) return;
    first.home()->post(first.turn_);
}

void rate_limiter_core::turn_came(rate_waiter& node) noexcept {
    const std::lock_guard lock(mutex_);
    node.turn_posted_ = false;
}

/// Takes the tokens of `node`, or sets its timer if there are too few. Thread: that of its loop.
void rate_limiter_core::have_turn(rate_waiter& node) noexcept {
    {
        const std::lock_guard lock(mutex_);
        // A stopped waiter is about to complete. One that is not the first gets another turn.
        if (node.how() != waiter::state::waiting || &waiting_.front() != &node) return;
        if (!take(node.wanted, clock::now())) {
            node.home()->post_at(ready_at(node.wanted), *node.timer_);
            return;
        }
        waiting_.erase(node);
        node.set(waiter::state::granted);
        next_turn();
    }
    node.complete();
}

/// Stops `node`, because its loop is drained and has no timers. Thread: that of its loop.
void rate_limiter_core::give_up(rate_waiter& node) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (node.how() != waiter::state::waiting) return;
        waiting_.erase(node);
        node.set(waiter::state::stopped);
        next_turn();
    }
    node.complete();
}

void rate_limiter_core::stop(rate_waiter& node) noexcept {
    locked([&](wait_list& here) {
        const bool left = waiting_.stop(node, here);
        if (left) next_turn();
        return left;
    });
}

void rate_limiter_core::take_back(rate_waiter& node) noexcept {
    const std::lock_guard lock(mutex_);
    waiting_.take_back(node);
    node.calm();
    next_turn();
}

void rate_limiter_core::leave(rate_waiter& node) noexcept {
    const std::lock_guard lock(mutex_);
    node.calm();
}

}  // namespace eddy::detail
