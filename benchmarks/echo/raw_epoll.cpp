// SPDX-License-Identifier: Apache-2.0
// Echo on the bare kernel interface, level-triggered: the reference of every ratio.

#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "common/spin.hpp"
#include "echo/backlog.hpp"
#include "echo/listener.hpp"

namespace {

struct connection {
    int fd;
    bench::backlog out;
};

class server {
public:
    explicit server(int listener)
        : listener_(listener),
          epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        control(EPOLL_CTL_ADD, listener_, EPOLLIN, nullptr);
    }

    [[noreturn]] void run() {
        for (;;) {
            const int n = wait();
            for (int i = 0; i < n; ++i) {
                if (auto* c = static_cast<connection*>(events_[i].data.ptr)) {
                    serve(*c);
                } else {
                    accept_all();
                }
            }
        }
    }

private:
    static constexpr int events_max = 1024;

    void control(int what, int fd, std::uint32_t events, void* data) {
        epoll_event e{.events = events, .data = {.ptr = data}};
        bench::must(::epoll_ctl(epoll_, what, fd, &e), "epoll_ctl");
    }

    int wait() {
        if (spin_ns_ != 0) {
            for (const std::int64_t end = bench::now_ns() + spin_ns_; bench::now_ns() < end;) {
                if (const int n = ::epoll_wait(epoll_, events_, events_max, 0); n != 0) return n;
            }
        }
        return ::epoll_wait(epoll_, events_, events_max, -1);
    }

    void accept_all() {
        for (int fd; (fd = bench::accept_from(listener_)) >= 0;) {
            control(EPOLL_CTL_ADD, fd, EPOLLIN, new connection{fd, {}});
        }
    }

    void serve(connection& c) {
        if (!(c.out.empty() ? receive(c) : flush(c))) {
            ::close(c.fd);
            delete &c;
        }
    }

    bool receive(connection& c) {
        const ssize_t n = ::recv(c.fd, buffer_, sizeof buffer_, 0);
        if (n <= 0) return n < 0 && errno == EAGAIN;
        if (!c.out.send(c.fd, buffer_, static_cast<std::size_t>(n))) return false;
        if (!c.out.empty()) control(EPOLL_CTL_MOD, c.fd, EPOLLOUT, &c);
        return true;
    }

    bool flush(connection& c) {
        if (!c.out.flush(c.fd)) return false;
        if (c.out.empty()) control(EPOLL_CTL_MOD, c.fd, EPOLLIN, &c);
        return true;
    }

    int listener_;
    int epoll_;
    const std::int64_t spin_ns_ = bench::spin_us() * 1000;
    epoll_event events_[events_max];
    char buffer_[bench::read_max];
};

}  // namespace

int main(int argc, char** argv) {
    static server s(bench::listen_on(bench::port_argument(argc, argv)));
    s.run();
}
