// SPDX-License-Identifier: Apache-2.0
// Threads in epoll_wait on the same edge-triggered set, one set for each pollset. It promises less
// than a pollset does: a handler could run on two threads at once, nothing can be removed safely,
// and what a thread has harvested waits for it.

#include <sys/epoll.h>

#include <array>

#include "pollset/harness.hpp"

namespace {

class epoll_sets {
public:
    explicit epoll_sets(unsigned sets)
        : stop_(bench::must(::eventfd(0, EFD_CLOEXEC), "eventfd")), sets_(sets) {
        for (epoll_set& s : sets_) {
            s.epoll =
                bench::unique_fd(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
            watch(s, stop_.get(), EPOLLIN, nullptr);
        }
    }

    void add(unsigned set, bench::player& p) { watch(sets_[set], p.fd(), EPOLLIN | EPOLLET, &p); }

    bool work(unsigned set) {
        std::array<epoll_event, 64> events;
        sets_[set].waits.fetch_add(1, std::memory_order_relaxed);
        const int n = ::epoll_wait(sets_[set].epoll.get(), events.data(), events.size(), -1);
        for (int i = 0; i < n; ++i) {
            auto* const p =
                static_cast<bench::player*>(events[static_cast<std::size_t>(i)].data.ptr);
            if (p == nullptr) return false;
            if (p->heard()) p->answer();
        }
        return true;
    }

    void stop() {
        const std::uint64_t one = 1;
        if (::write(stop_.get(), &one, sizeof one) != sizeof one) bench::die("write");
    }

    bench::served costs() const {
        bench::served all;
        for (const epoll_set& s : sets_) all.waits += static_cast<double>(s.waits.load());
        return all;
    }

private:
    struct epoll_set {
        bench::unique_fd epoll;
        std::atomic<unsigned long> waits{0};
    };

    static void watch(const epoll_set& s, int fd, unsigned what, bench::player* p) {
        epoll_event e{.events = what, .data = {.ptr = p}};
        bench::must(::epoll_ctl(s.epoll.get(), EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
    }

    bench::unique_fd stop_;
    std::vector<epoll_set> sets_;
};

}  // namespace

int main(int argc, char** argv) { return bench::pollset_main<epoll_sets>(argc, argv); }
