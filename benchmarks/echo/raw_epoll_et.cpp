// SPDX-License-Identifier: Apache-2.0
// Echo on bare edge-triggered epoll: registered once, no epoll_ctl in steady state.

#include <sys/epoll.h>
#include <unistd.h>

#include "echo/backlog.hpp"
#include "echo/listener.hpp"

namespace {

struct connection {
    int fd;
    bool watches_out = false;
    bench::backlog out;
};

class server {
public:
    explicit server(int listener)
        : listener_(listener),
          epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        control(EPOLL_CTL_ADD, listener_, EPOLLIN | EPOLLET, nullptr);
    }

    [[noreturn]] void run() {
        for (;;) {
            const int n = ::epoll_wait(epoll_, events_, events_max, -1);
            for (int i = 0; i < n; ++i) {
                if (auto* c = static_cast<connection*>(events_[i].data.ptr)) {
                    serve(*c, events_[i].events);
                } else {
                    accept_all();
                }
            }
        }
    }

private:
    static constexpr int events_max = 1024;
    static constexpr std::uint32_t watched = EPOLLIN | EPOLLRDHUP | EPOLLET;
    static constexpr std::uint32_t ending = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

    void control(int what, int fd, std::uint32_t events, void* data) {
        epoll_event e{.events = events, .data = {.ptr = data}};
        bench::must(::epoll_ctl(epoll_, what, fd, &e), "epoll_ctl");
    }

    void accept_all() {
        for (int fd; (fd = bench::accept_from(listener_)) >= 0;) {
            control(EPOLL_CTL_ADD, fd, watched, new connection{.fd = fd, .out = {}});
        }
    }

    void serve(connection& c, std::uint32_t events) {
        if (!drain(c, (events & ending) != 0)) {
            ::close(c.fd);
            delete &c;
        }
    }

    /// A short read proves that TCP is drained, unless the end was seen: then read up to it.
    bool drain(connection& c, bool to_the_end) {
        if (!c.out.empty() && !c.out.flush(c.fd)) return false;
        for (bool more = true; more && c.out.empty();) {
            const ssize_t n = ::recv(c.fd, buffer_, sizeof buffer_, 0);
            if (n <= 0) return n < 0 && errno == EAGAIN;
            if (!c.out.send(c.fd, buffer_, static_cast<std::size_t>(n))) return false;
            more = to_the_end || static_cast<std::size_t>(n) == sizeof buffer_;
        }
        if (!c.out.empty() && !c.watches_out) {
            c.watches_out = true;
            control(EPOLL_CTL_MOD, c.fd, watched | EPOLLOUT, &c);
        }
        return true;
    }

    int listener_;
    int epoll_;
    epoll_event events_[events_max];
    char buffer_[bench::read_max];
};

}  // namespace

int main(int argc, char** argv) {
    static server s(bench::listen_on(bench::port_argument(argc, argv)));
    s.run();
}
