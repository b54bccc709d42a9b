// SPDX-License-Identifier: Apache-2.0
// Timers on libuv.

#include <uv.h>

#include "common/die.hpp"
#include "timer/harness.hpp"

namespace {

template <class Handler>
class uv_timers {
public:
    uv_timers(Handler& handler, unsigned count) : handler_(handler), timers_(count) {
        if (uv_loop_init(&loop_) != 0) bench::die("libuv");
        for (uv_timer_t& t : timers_) {
            uv_timer_init(&loop_, &t);
            t.data = this;
        }
    }

    void set(unsigned i, std::int64_t delay) {
        uv_timer_start(&timers_[i], on_timer, static_cast<std::uint64_t>(delay / bench::ms), 0);
    }
    void cancel(unsigned i) { uv_timer_stop(&timers_[i]); }
    void push_back(unsigned i, std::int64_t delay) { set(i, delay); }
    void turn() { uv_update_time(&loop_); }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }

private:
    static void on_timer(uv_timer_t* t) {
        auto& self = *static_cast<uv_timers*>(t->data);
        self.handler_.fired(static_cast<unsigned>(t - self.timers_.data()));
    }

    Handler& handler_;
    uv_loop_t loop_;
    std::vector<uv_timer_t> timers_;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<uv_timers>(argc, argv); }
