// SPDX-License-Identifier: Apache-2.0
// Watching pipes on libevent. Changes are collected until the next turn, which is its fastest way
// to register again.

#include <event2/event.h>
#include <event2/event_struct.h>

#include "churn/harness.hpp"

namespace {

template <class Handler>
class event_watchers {
public:
    event_watchers(Handler& handler, const std::vector<int>& fds)
        : handler_(handler), base_(make_base()), watchers_(fds.size()), events_(fds.size()) {
        for (unsigned i = 0; i < fds.size(); ++i) {
            watchers_[i] = {this, i};
            event_assign(&events_[i], base_, fds[i], EV_READ | EV_PERSIST, on_event, &watchers_[i]);
        }
    }

    void add(unsigned i) { event_add(&events_[i], nullptr); }
    void remove(unsigned i) { event_del(&events_[i]); }
    void run() { event_base_dispatch(base_); }
    void stop() { event_base_loopbreak(base_); }
    void turn() { event_base_loop(base_, EVLOOP_NONBLOCK); }

private:
    struct watcher {
        event_watchers* owner;
        unsigned number;
    };

    static event_base* make_base() {
        event_config* config = event_config_new();
        event_config_set_flag(config,
                              EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
        event_base* base = event_base_new_with_config(config);
        event_config_free(config);
        if (base == nullptr) bench::die("event_base_new");
        return base;
    }

    static void on_event(int, short, void* arg) {
        const auto& w = *static_cast<watcher*>(arg);
        w.owner->handler_.readable(w.number);
    }

    Handler& handler_;
    event_base* base_;
    std::vector<watcher> watchers_;
    std::vector<event> events_;
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<event_watchers>(argc, argv); }
