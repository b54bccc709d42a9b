// SPDX-License-Identifier: Apache-2.0
// Posting on libuv: a queue with a mutex, and uv_async_send when it was empty.

#include <uv.h>

#include "common/die.hpp"
#include "post/harness.hpp"
#include "post/mutex_queue.hpp"

namespace {

template <class Handler>
class uv_poster {
public:
    using item = bench::mutex_queue::item;

    explicit uv_poster(Handler& handler) : handler_(handler) {
        if (uv_loop_init(&loop_) != 0 || uv_async_init(&loop_, &async_, on_async) != 0) {
            bench::die("libuv");
        }
        async_.data = this;
    }

    void prepare(item&) noexcept {}

    void post(item& i) {
        if (queue_.push(i)) uv_async_send(&async_);
    }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }

private:
    static void on_async(uv_async_t* async) {
        auto& self = *static_cast<uv_poster*>(async->data);
        for (item* i = self.queue_.take(); i != nullptr;) {
            i = i->next;  // first: ran() may post the same item again
            self.handler_.ran();
        }
    }

    Handler& handler_;
    bench::mutex_queue queue_;
    uv_loop_t loop_;
    uv_async_t async_;
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<uv_poster>(argc, argv); }
