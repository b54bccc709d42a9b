// SPDX-License-Identifier: Apache-2.0
// Signals on libuv's uv_signal.

#include <uv.h>

#include "signal/harness.hpp"

namespace {

template <class Handler>
class uv_signals {
public:
    explicit uv_signals(Handler& handler) : handler_(handler) {
        if (uv_loop_init(&loop_) != 0 || uv_signal_init(&loop_, &signal_) != 0) {
            bench::die("libuv");
        }
        signal_.data = this;
        if (uv_signal_start(&signal_, on_signal, SIGUSR1) != 0) bench::die("uv_signal_start");
    }

    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }

private:
    static void on_signal(uv_signal_t* s, int) {
        static_cast<uv_signals*>(s->data)->handler_.came();
    }

    Handler& handler_;
    uv_loop_t loop_;
    uv_signal_t signal_;
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<uv_signals>(argc, argv); }
