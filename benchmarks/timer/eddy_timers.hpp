// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "common/eddy_loop.hpp"
#include "timer/harness.hpp"

namespace bench {

/// On one kind of eddy's timers.
template <class Handler, class Timer>
class eddy_timers {
public:
    eddy_timers(Handler& handler, unsigned count)
        : handler_(handler), timers_(std::allocator<Timer>().allocate(count)), count_(count) {
        only_ = this;
        for (unsigned i = 0; i < count; ++i) std::construct_at(timers_ + i, loop_.get(), on_timer);
    }
    ~eddy_timers() {
        inside([this] { std::for_each_n(timers_, count_, [&](Timer& t) { loop_->disarm(t); }); });
        std::destroy_n(timers_, count_);
        std::allocator<Timer>().deallocate(timers_, count_);
    }

    template <class Function>
    void inside(Function f) {
        loop_->post([this, f] {
            f();
            loop_->stop();
        });
        loop_->run();
    }

    [[gnu::always_inline]] void set(unsigned i, std::int64_t delay) {
        loop_->post_at(after(delay), timers_[i]);
    }
    [[gnu::always_inline]] void cancel(unsigned i) { loop_->disarm(timers_[i]); }
    [[gnu::always_inline]] void push_back(unsigned i, std::int64_t delay) { set(i, delay); }
    void turn() { turn_ = eddy::clock::now(); }
    void run() {
        running_ = true;
        loop_->run();
    }
    void stop() { loop_->stop(); }

private:
    /// As the bare heap does it: the time of the turn, and in a callback the time that it is.
    eddy::time_point after(std::int64_t delay) const {
        return (running_ ? eddy::clock::now() : turn_) + eddy::duration(delay);
    }

    static void on_timer(Timer& t) noexcept {
        only_->handler_.fired(static_cast<unsigned>(&t - only_->timers_));
    }

    /// With nothing else in an item but the timer, as in those of the bare heap.
    static inline eddy_timers* only_ = nullptr;

    Handler& handler_;
    eddy_loop loop_;
    Timer* const timers_;  // side by side, as those of the others
    const unsigned count_;
    eddy::time_point turn_ = eddy::clock::now();
    bool running_ = false;
};

}  // namespace bench
