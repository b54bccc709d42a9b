// SPDX-License-Identifier: Apache-2.0
// Posting on libev: a queue with a mutex, and ev_async_send when it was empty.

#include <ev.h>

#include "common/die.hpp"
#include "post/harness.hpp"
#include "post/mutex_queue.hpp"

namespace {

template <class Handler>
class ev_poster {
public:
    using item = bench::mutex_queue::item;

    explicit ev_poster(Handler& handler) : handler_(handler), loop_(ev_loop_new(EVBACKEND_EPOLL)) {
        if (loop_ == nullptr) bench::die("ev_loop_new");
        ev_async_init(&async_, on_async);
        async_.data = this;
        ev_async_start(loop_, &async_);
    }

    void prepare(item&) noexcept {}

    void post(item& i) {
        if (queue_.push(i)) ev_async_send(loop_, &async_);
    }
    void run() { ev_run(loop_, 0); }
    void stop() { ev_break(loop_, EVBREAK_ALL); }

private:
    static void on_async(struct ev_loop*, ev_async* async, int) {
        auto& self = *static_cast<ev_poster*>(async->data);
        for (item* i = self.queue_.take(); i != nullptr;) {
            i = i->next;  // first: ran() may post the same item again
            self.handler_.ran();
        }
    }

    Handler& handler_;
    bench::mutex_queue queue_;
    struct ev_loop* loop_;
    ev_async async_;
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<ev_poster>(argc, argv); }
