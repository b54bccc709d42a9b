// SPDX-License-Identifier: Apache-2.0
// Posting on libevent: every item is an event that is made active, which any thread may do.

#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

#include "common/die.hpp"
#include "post/harness.hpp"

namespace {

template <class Handler>
class event_poster {
public:
    using item = event;

    explicit event_poster(Handler& handler) : handler_(handler) {
        evthread_use_pthreads();
        base_ = event_base_new();
        if (base_ == nullptr) bench::die("event_base_new");
    }

    void prepare(item& i) { event_assign(&i, base_, -1, 0, on_event, this); }
    void post(item& i) { event_active(&i, EV_TIMEOUT, 0); }
    void run() { event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY); }
    void stop() { event_base_loopbreak(base_); }

private:
    static void on_event(int, short, void* self) {
        static_cast<event_poster*>(self)->handler_.ran();
    }

    Handler& handler_;
    event_base* base_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<event_poster>(argc, argv); }
