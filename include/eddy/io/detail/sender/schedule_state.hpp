// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/timer.hpp>

#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// Posts an entry to the loop, for schedule().
template <class Receiver>
class schedule_state {
public:
    using operation_state_concept = ex::operation_state_tag;

    schedule_state(loop& home, Receiver receiver) noexcept
        : home_(home), receiver_(std::move(receiver)) {}
    ~schedule_state() {
        if (entry_.posted()) {
            home_.disarm(entry_);
        }
    }
    schedule_state(const schedule_state&) = delete;
    schedule_state& operator=(const schedule_state&) = delete;

    void start() & noexcept {
        entry_.set_callbacks(&entry_thunk<&schedule_state::entry_, &schedule_state::run>,
                             &entry_thunk<&schedule_state::entry_, &schedule_state::stop>);
#ifndef NDEBUG
        if (loop::current() != &home_) {
            home_.expect_runner();
        }
#endif
        home_.hand_over(entry_);
    }

private:
    void run() noexcept {
        if (stop_requested(receiver_)) {
            stop();
        } else {
            ex::set_value(std::move(receiver_));
        }
    }
    void stop() noexcept { ex::set_stopped(std::move(receiver_)); }

    loop& home_;
    Receiver receiver_;
    entry entry_;
};

/// A time, or a delay from the start of the operation.
class when {
public:
    explicit when(time_point at) noexcept : at_(at) {}
    explicit when(duration delay) noexcept : delay_(delay) {}
    time_point from_now() const noexcept {
        return at_ == never ? saturating_add(clock::now(), delay_) : at_;
    }

private:
    time_point at_ = never;
    duration delay_ = duration::max();
};

/// Sets a timer on the loop, for schedule_at() and schedule_after().
template <class Receiver>
class schedule_at_state {
public:
    using operation_state_concept = ex::operation_state_tag;

    schedule_at_state(loop& home, when at, Receiver receiver)
        : at_(at), receiver_(std::move(receiver)), timer_(home, &on_run, &on_cancel) {}
    ~schedule_at_state() {
        callback_.disarm();
        if (entry_.posted()) {
            timer_.home().disarm(entry_);
        } else if (set_) {
            timer_.home().disarm(timer_);
        }
    }
    schedule_at_state(const schedule_at_state&) = delete;
    schedule_at_state& operator=(const schedule_at_state&) = delete;

    void start() & noexcept {
        if (stop_requested(receiver_)) {
            ex::set_stopped(std::move(receiver_));
            return;
        }
        due_ = at_.from_now();
        if (loop::current() == &timer_.home()) {
            set();
        } else {
            entry_.set_callbacks(
                &entry_thunk<&schedule_at_state::entry_, &schedule_at_state::set>,
                &entry_thunk<&schedule_at_state::entry_, &schedule_at_state::end_stopped>);
#ifndef NDEBUG
            timer_.home().expect_runner();
#endif
            timer_.home().hand_over(entry_);
        }
    }

private:
    /// Sets the timer. Thread: the loop's, so the timer neither expires nor is cancelled meanwhile.
    void set() noexcept {
        set_ = true;
        timer_.home().post_at(due_, timer_);
        callback_.arm(receiver_, *this);
    }
    void request_stop() noexcept { timer_.home().cancel(timer_); }
    void end_stopped() noexcept { ex::set_stopped(std::move(receiver_)); }

    static void on_run(timer& t) noexcept {
        auto& self = owner_of<&schedule_at_state::timer_>(t);
        self.end();
        ex::set_value(std::move(self.receiver_));
    }
    static void on_cancel(timer& t) noexcept {
        auto& self = owner_of<&schedule_at_state::timer_>(t);
        self.end();
        self.end_stopped();
    }
    void end() noexcept {
        callback_.disarm();
        timer_.home().disarm(timer_);  // a cancellation may be on its way
        set_ = false;
    }

    when at_;
    time_point due_;
    bool set_ = false;
    Receiver receiver_;
    timer timer_;
    entry entry_;  ///< carries a start from another thread to the loop
    [[no_unique_address]] stop_callback<Receiver, schedule_at_state> callback_;

    friend class stop_callback<Receiver, schedule_at_state>;
};

EDDY_EX_END

}  // namespace eddy::detail
