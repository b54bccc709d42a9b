// SPDX-License-Identifier: Apache-2.0

// Counts the expirations of a timer, and reports them while the watch is armed.
#include <eddy/watch/timer_watch.hpp>

#include <utility>

namespace eddy {

timer_watch::timer_watch(loop& home, callback on_expired, removed_callback on_removed,
                         const watch_options& options, timer_clock which)
    : watch(home, options),
      timer_(
          home, [](timer& t) noexcept { detail::owner_of<&timer_watch::timer_>(t).on_due(); },
          nullptr, which),
      fire_([](entry& e) noexcept { detail::owner_of<&timer_watch::fire_>(e).on_fire(); }),
      on_expired_(on_expired),
      on_removed_(on_removed) {
    timer_.set_name(options.name);
    timer_.set_priority(options.priority);
    fire_.set_priority(options.priority);
    if (options.armed) {
        arm();
    }
}

timer_watch::~timer_watch() {
    leave();
    clear();
}

void timer_watch::clear() noexcept {
    stop();
    // Also if it was set between two runs, and the loop has yet to take it.
    home().disarm(timer_);
    missed_ = 0;
}

void timer_watch::prepare(duration interval) noexcept {
    clear();
    timer_.set_interval(interval);
}

void timer_watch::set_at(time_point when, duration interval) noexcept {
    prepare(interval);
    home().post_at(when, timer_);
}

void timer_watch::set_at(system_time_point when, duration interval) noexcept {
    prepare(interval);
    home().post_at(when, timer_);
}

void timer_watch::set_after(duration delay, duration interval) noexcept {
    if (timer_.which_clock() == timer_clock::steady) {
        set_at(saturating_add(clock::now(), delay), interval);
    } else {
        const auto now = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
        set_at(system_time_point(
                   saturating_add(time_point(now.time_since_epoch()), delay).time_since_epoch()),
               interval);
    }
}

void timer_watch::on_due() noexcept {
    missed_ += timer_.expirations();
    if (armed() && !fire_.posted()) {
        dispatch();
    } else {
        do_not_count();
    }
}

void timer_watch::on_fire() noexcept { dispatch(); }

reaction timer_watch::call() noexcept {
    told_ = std::exchange(missed_, 0);
    return on_expired_(*this);
}

void timer_watch::start(arming how) noexcept {
    if (how == arming::requeue) {
        missed_ += told_;
    }
    if (missed_ != 0) {
        home().post(fire_);
    }
}

void timer_watch::stop() noexcept {
    if (fire_.posted()) {
        home().disarm(fire_);
    }
}

void timer_watch::reprioritise(priority_level priority) noexcept {
    move(timer_, priority);
    move(fire_, priority);
}

void timer_watch::removed() noexcept {
    clear();
    if (on_removed_ != nullptr) {
        on_removed_(*this);
    }
}

}  // namespace eddy
