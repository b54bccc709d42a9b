// SPDX-License-Identifier: Apache-2.0
// Watching pipes on bare level-triggered epoll.

#include <sys/epoll.h>

#include "churn/harness.hpp"

namespace {

template <class Handler>
class epoll_watchers {
public:
    epoll_watchers(Handler& handler, const std::vector<int>& fds)
        : handler_(handler),
          fds_(fds),
          epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

    void add(unsigned i) {
        epoll_event e{.events = EPOLLIN, .data = {.u32 = i}};
        bench::must(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fds_[i], &e), "epoll_ctl");
    }
    void remove(unsigned i) {
        bench::must(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fds_[i], nullptr), "epoll_ctl");
    }
    void run() {
        while (!stopped_) wait(-1);
    }
    void stop() { stopped_ = true; }
    void turn() { wait(0); }

private:
    static constexpr int events_max = 1024;

    void wait(int timeout_ms) {
        const int n = ::epoll_wait(epoll_.get(), events_, events_max, timeout_ms);
        for (int i = 0; i < n; ++i) handler_.readable(events_[i].data.u32);
    }

    Handler& handler_;
    const std::vector<int>& fds_;
    bench::unique_fd epoll_;
    bool stopped_ = false;
    epoll_event events_[events_max];
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<epoll_watchers>(argc, argv); }
