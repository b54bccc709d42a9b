// SPDX-License-Identifier: Apache-2.0
// Timers on libevent; those that all have the same period use its queue for common timeouts.

#include <event2/event.h>
#include <event2/event_struct.h>

#include "common/die.hpp"
#include "timer/harness.hpp"

namespace {

template <class Handler>
class event_timers {
public:
    event_timers(Handler& handler, unsigned count)
        : handler_(handler), base_(make_base()), timers_(count), events_(count) {
        for (unsigned i = 0; i < count; ++i) {
            timers_[i] = {this, i};
            event_assign(&events_[i], base_, -1, 0, on_timer, &timers_[i]);
        }
    }

    void set(unsigned i, std::int64_t delay) {
        const timeval t = from_ns(delay);
        event_add(&events_[i], &t);
    }
    void cancel(unsigned i) { event_del(&events_[i]); }
    void push_back(unsigned i, std::int64_t delay) {
        if (common_ == nullptr) {
            const timeval t = from_ns(delay);
            common_ = event_base_init_common_timeout(base_, &t);
        }
        event_add(&events_[i], common_);
    }
    void turn() { event_base_update_cache_time(base_); }
    void run() { event_base_dispatch(base_); }
    void stop() { event_base_loopbreak(base_); }

private:
    struct timer {
        event_timers* owner;
        unsigned number;
    };

    static event_base* make_base() {
        event_config* config = event_config_new();
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        event_base* base = event_base_new_with_config(config);
        event_config_free(config);
        if (base == nullptr) bench::die("event_base_new");
        return base;
    }

    static timeval from_ns(std::int64_t ns) {
        return {.tv_sec = ns / 1'000'000'000, .tv_usec = ns % 1'000'000'000 / 1'000};
    }

    static void on_timer(int, short, void* arg) {
        const auto& t = *static_cast<timer*>(arg);
        t.owner->handler_.fired(t.number);
    }

    Handler& handler_;
    event_base* base_;
    const timeval* common_ = nullptr;
    std::vector<timer> timers_;
    std::vector<event> events_;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<event_timers>(argc, argv); }
