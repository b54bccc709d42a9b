// SPDX-License-Identifier: Apache-2.0
// Signals on libevent.

#include <event2/event.h>

#include "signal/harness.hpp"

namespace {

template <class Handler>
class event_signals {
public:
    explicit event_signals(Handler& handler) : handler_(handler), base_(event_base_new()) {
        if (base_ == nullptr) bench::die("event_base_new");
        event* const signal = evsignal_new(base_, SIGUSR1, on_signal, this);
        if (signal == nullptr || event_add(signal, nullptr) != 0) bench::die("evsignal_new");
    }

    void run() { event_base_dispatch(base_); }
    void stop() { event_base_loopbreak(base_); }

private:
    static void on_signal(int, short, void* arg) {
        static_cast<event_signals*>(arg)->handler_.came();
    }

    Handler& handler_;
    event_base* base_;
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<event_signals>(argc, argv); }
