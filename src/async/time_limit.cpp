// SPDX-License-Identifier: Apache-2.0

// Arms a time limit, and takes it back from any thread.
#include <eddy/async/detail/compose/time_limit.hpp>

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/loop.hpp>

#include <new>

namespace eddy::detail {

time_limit::owned_timer::owned_timer(loop& home, time_limit* limit)
    : timer(home, &on_due, &on_cancel), owner(limit) {}

time_limit::~time_limit() {
    if (!timer_) return;
    // relaxed: only the loop's thread destroys an armed limit.
    if (entry_.posted()) timer_->home().disarm(entry_);
    if (timer_->armed() || !over_.load(std::memory_order_relaxed)) timer_->home().disarm(*timer_);
}

bool time_limit::make_timer(loop& home) noexcept try {
    timer_.emplace(home, this);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void time_limit::arm(time_point when) noexcept {
    over_.store(false, std::memory_order_relaxed);  // post_at() publishes it
    timer_->home().post_at(when, *timer_);
}

bool time_limit::become_over() noexcept {
    // relaxed: the owner publishes its data by what it does next.
    return !over_.exchange(true, std::memory_order_relaxed);
}

time_limit::claimed time_limit::claim() noexcept {
    if (!become_over()) return claimed::nothing;
    if (loop::current() != &timer_->home()) return claimed::elsewhere;
    timer_->home().disarm(*timer_);
    return claimed::here;
}

void time_limit::bring_back() noexcept { timer_->home().hand_over(entry_); }

void time_limit::pass(ending how) noexcept {
    if (become_over()) on_over_(*this, how);
}

void time_limit::on_due(timer& t) noexcept {
    static_cast<owned_timer&>(t).owner->pass(ending::due);
}

void time_limit::on_cancel(timer& t) noexcept {
    static_cast<owned_timer&>(t).owner->pass(ending::ended);
}

void time_limit::on_brought_back(entry& e) noexcept {
    time_limit& self = owner_of<&time_limit::entry_>(e);
    self.timer_->home().disarm(*self.timer_);
    self.on_over_(self, ending::taken_back);
}

}  // namespace eddy::detail
