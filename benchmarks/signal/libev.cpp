// SPDX-License-Identifier: Apache-2.0
// Signals on libev, which has them on its default loop.

#include <ev.h>

#include "signal/harness.hpp"

namespace {

template <class Handler>
class ev_signals {
public:
    explicit ev_signals(Handler& handler)
        : handler_(handler), loop_(ev_default_loop(EVBACKEND_EPOLL)) {
        if (loop_ == nullptr) bench::die("ev_default_loop");
        ev_signal_init(&signal_, on_signal, SIGUSR1);
        signal_.data = this;
        ev_signal_start(loop_, &signal_);
    }

    void run() { ev_run(loop_, 0); }
    void stop() { ev_break(loop_, EVBREAK_ALL); }

private:
    static void on_signal(struct ev_loop*, ev_signal* s, int) {
        static_cast<ev_signals*>(s->data)->handler_.came();
    }

    Handler& handler_;
    struct ev_loop* loop_;
    ev_signal signal_;
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<ev_signals>(argc, argv); }
