// SPDX-License-Identifier: Apache-2.0

// Keeps all timers of a domain in one heap with one timerfd. The timerfd is a handle in each
// pollset that has timers. It is set to the earliest deadline, or to an earlier, outdated one.
#include "kernel/event.hpp"
#include "pollset/strategies/every_event.hpp"

#include <eddy/base/detail/member.hpp>
#include <eddy/base/error.hpp>
#include <eddy/pollset/pollset_timer.hpp>

#include <new>

namespace eddy::detail {

namespace {

/// Waits in the read word of the timerfd's handle, for level-triggered pollers. It is never called.
closure& nobody() noexcept {
    static callback instance([](std::error_code) {});
    return instance;
}

std::int64_t ns_of(time_point when) noexcept { return when.time_since_epoch().count(); }

}  // namespace

std::error_code poll_core::open(pollset_timer& timer) noexcept {
    core_lock lock(*this);
    if (timer_handle_ == nullptr) {
        unique_fd fd;
        if (auto error = kernel::make_steady_timerfd(fd)) {
            return error;
        }
        timer_handle_.reset(new (std::nothrow) poll_handle(*this, std::move(fd), {}));
        if (timer_handle_ == nullptr) {
            return std::make_error_code(std::errc::not_enough_memory);
        }
        timer_handle_->words_[static_cast<std::size_t>(poll_event_kind::read)].arm_guarded(
            nobody());
    }
    if (!timers_.reserve()) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    heed(timer.item_.priority());
    const auto error = join(timer.set_, *timer_handle_, &membership::for_timers);
    if (error) {
        timers_.unreserve();
    } else {
        ++timer.set_.timers_;
    }
    return error;
}

void poll_core::close(pollset_timer& timer) noexcept {
    const core_lock lock(*this);
    take_back(timer);
    --timer.set_.timers_;
    timers_.unreserve();
}

std::error_code poll_core::set(pollset_timer& timer, time_point when) noexcept {
    const core_lock lock(*this);
    if (timer.set_.shut_down_) {
        return std::make_error_code(std::errc::operation_canceled);
    }
    const bool queued = ready_queue::contains(timer.item_);
    if (!queued && !timer.node_.armed() && !take(*timer.item_.due)) {
        return already_waiting();
    }
    if (queued) {
        timer.set_.ready_.erase(timer.item_);
    }
    timers_.move(timer.node_, ns_of(when));
    set_timerfd(ns_of(when));
    return {};
}

bool poll_core::cancel(pollset_timer& timer) noexcept {
    const core_lock lock(*this);
    return take_back(timer);
}

bool poll_core::take_back(pollset_timer& timer) noexcept {
    const bool armed = timer.node_.armed();
    const bool queued = ready_queue::contains(timer.item_);
    if (armed) {
        timers_.erase(timer.node_);
    }
    if (queued) {
        timer.set_.ready_.erase(timer.item_);
    }
    if (armed || queued) {
        timer.item_.due->taken_.store(false, std::memory_order_release);
    }
    return armed || queued;
}

/// Makes sure that the timerfd is readable at `deadline_ns` at the latest.
void poll_core::set_timerfd(std::int64_t deadline_ns) noexcept {
    if (deadline_ns < timerfd_ns_) {
        timerfd_ns_ = deadline_ns;
        static_cast<void>(kernel::set_steady_timerfd(timer_handle_->fd_.get(),
                                                     time_point(duration(deadline_ns))));
    }
}

/// Queues the timers that are due, when the timerfd was readable. Setting it makes it unreadable.
void poll_core::expire(pollset_worker* by, core_lock& lock) noexcept {
    const std::int64_t now_ns = ns_of(clock::now());
    while (timer_node* const node = timers_.pop_due(now_ns)) {
        pollset_timer& timer = owner_of<&pollset_timer::node_>(*node);
        if (executor_ != nullptr) {
            lock.hand(*timer.item_.due, {});
        } else if (!ready_queue::contains(timer.item_)) {  // else a shutdown is ending it
            show(timer.set_, timer.item_, by);
        }
    }
    timerfd_ns_ = INT64_MAX;
    const std::int64_t next_ns = timers_.empty() ? INT64_MAX : timers_.next_deadline_ns();
    if (next_ns == INT64_MAX) {
        static_cast<void>(kernel::set_steady_timerfd(timer_handle_->fd_.get(), never));
    } else {
        set_timerfd(next_ns);
    }
}

/// Returns the error with which to call a timer that was taken from the queue. If the timer is
/// still set, its pollset was shut down before its time came.
std::error_code poll_core::taken(single_item& item) noexcept {
    timer_node& node = owner_of<&pollset_timer::item_>(item).node_;
    if (!node.armed()) {
        return {};
    }
    timers_.erase(node);
    return std::make_error_code(std::errc::operation_canceled);
}

/// Does what taken() does for a call that begins now: from here on the timer can be set again.
std::error_code poll_core::begun(single_item& item) noexcept {
    item.due->taken_.store(false, std::memory_order_release);
    return taken(item);
}

/// Ends the timers of a pollset that is shut down: calls those that are due without an error, those
/// that are set with `operation_canceled`. All stay in the queue until it is their turn, since a
/// closure may cancel and destroy any of the others.
void poll_core::end_timers(pollset& set, core_lock& lock) {
    timers_.for_each([&](timer_node& node) {
        pollset_timer& timer = owner_of<&pollset_timer::node_>(node);
        if (&timer.set_ == &set) {
            set.ready_.push(timer.item_);
        }
    });
    while (!set.ready_.empty()) {
        auto& item = static_cast<single_item&>(static_cast<work_item&>(set.ready_.pop()));
        if (executor_ != nullptr) {
            lock.hand(*item.due, taken(item));
            continue;
        }
        closure& due = *item.due;
        const std::error_code error = begun(item);
        lock.release();
        due.run_(due, error);
        lock.acquire();
    }
}

}  // namespace eddy::detail

namespace eddy {

pollset_timer::pollset_timer(pollset& set, closure& due, priority_level priority)
    : set_(set), item_(due, priority) {
    EDDY_ASSERT(priority < priority_count, "a priority is 0 to 63");
    detail::poll_core& core = detail::poll_core::of(set);
    if (auto error = core.forked() ? make_error_code(errc::forked) : core.open(*this)) {
        throw std::system_error(error, "pollset_timer");
    }
}

pollset_timer::~pollset_timer() {
    if (detail::poll_core& core = detail::poll_core::of(set_); !core.forked()) {
        core.close(*this);
    }
}

std::error_code pollset_timer::set_at(time_point when) noexcept {
    detail::poll_core& core = detail::poll_core::of(set_);
    return core.forked() ? make_error_code(errc::forked) : core.set(*this, when);
}

bool pollset_timer::cancel() noexcept {
    detail::poll_core& core = detail::poll_core::of(set_);
    return !core.forked() && core.cancel(*this);
}

}  // namespace eddy
