// SPDX-License-Identifier: Apache-2.0
// Timers on libev; pushed back with ev_timer_again, as its manual says.

#include <ev.h>

#include "common/die.hpp"
#include "timer/harness.hpp"

namespace {

template <class Handler>
class ev_timers {
public:
    ev_timers(Handler& handler, unsigned count)
        : handler_(handler), loop_(ev_loop_new(EVBACKEND_EPOLL)), timers_(count) {
        if (loop_ == nullptr) bench::die("ev_loop_new");
        for (ev_timer& t : timers_) {
            ev_timer_init(&t, on_timer, 0., 0.);
            t.data = this;
        }
    }

    void set(unsigned i, std::int64_t delay) {
        ev_timer_set(&timers_[i], seconds(delay), 0.);
        ev_timer_start(loop_, &timers_[i]);
    }
    void cancel(unsigned i) { ev_timer_stop(loop_, &timers_[i]); }
    void push_back(unsigned i, std::int64_t delay) {
        timers_[i].repeat = seconds(delay);
        ev_timer_again(loop_, &timers_[i]);
    }
    void turn() { ev_now_update(loop_); }
    void run() { ev_run(loop_, 0); }
    void stop() { ev_break(loop_, EVBREAK_ALL); }

private:
    static double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

    static void on_timer(struct ev_loop*, ev_timer* t, int) {
        auto& self = *static_cast<ev_timers*>(t->data);
        self.handler_.fired(static_cast<unsigned>(t - self.timers_.data()));
    }

    Handler& handler_;
    struct ev_loop* loop_;
    std::vector<ev_timer> timers_;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<ev_timers>(argc, argv); }
