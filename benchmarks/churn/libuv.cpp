// SPDX-License-Identifier: Apache-2.0
// Watching pipes on libuv's uv_poll.

#include <uv.h>

#include "churn/harness.hpp"

namespace {

template <class Handler>
class uv_watchers {
public:
    uv_watchers(Handler& handler, const std::vector<int>& fds)
        : handler_(handler), polls_(fds.size()) {
        if (uv_loop_init(&loop_) != 0) bench::die("libuv");
        for (std::size_t i = 0; i < fds.size(); ++i) {
            if (uv_poll_init(&loop_, &polls_[i], fds[i]) != 0) bench::die("uv_poll_init");
            polls_[i].data = this;
        }
    }

    void add(unsigned i) { uv_poll_start(&polls_[i], UV_READABLE, on_poll); }
    void remove(unsigned i) { uv_poll_stop(&polls_[i]); }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    void stop() { uv_stop(&loop_); }
    void turn() { uv_run(&loop_, UV_RUN_NOWAIT); }

private:
    static void on_poll(uv_poll_t* p, int, int) {
        auto& self = *static_cast<uv_watchers*>(p->data);
        self.handler_.readable(static_cast<unsigned>(p - self.polls_.data()));
    }

    Handler& handler_;
    uv_loop_t loop_;
    std::vector<uv_poll_t> polls_;
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<uv_watchers>(argc, argv); }
