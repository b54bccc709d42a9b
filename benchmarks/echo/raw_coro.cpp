// SPDX-License-Identifier: Apache-2.0
// Echo on bare edge-triggered epoll with a coroutine for each connection: what a coroutine costs
// that nobody can stop, on a loop that knows nothing but readiness.

#include <sys/epoll.h>
#include <unistd.h>

#include "echo/backlog.hpp"
#include "echo/listener.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

namespace {

/// A coroutine that runs at once and owns itself.
struct detached {
    struct promise_type {
        static detached get_return_object() noexcept { return {}; }
        static std::suspend_never initial_suspend() noexcept { return {}; }
        static std::suspend_never final_suspend() noexcept { return {}; }
        static void return_void() noexcept {}
        [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
    };
};

char buffer[bench::read_max];  // of all connections: nobody waits with something in it
int epoll = -1;

void control(int what, int fd, std::uint32_t events, void* data) {
    epoll_event e{.events = events, .data = {.ptr = data}};
    bench::must(::epoll_ctl(epoll, what, fd, &e), "epoll_ctl");
}

class connection {
public:
    explicit connection(int fd) : fd_(fd) { control(EPOLL_CTL_ADD, fd, watched, this); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() { ::close(fd_); }

    void event(std::uint32_t events) {
        may_read_ = true;
        ends_ |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        if (waiting_) std::exchange(waiting_, nullptr).resume();
    }

    /// Bytes in the buffer; 0 or less: the end, or EAGAIN if the event was about something else.
    auto receive() noexcept {
        struct awaiter {
            connection& c;
            ssize_t count = -1;
            bool await_ready() noexcept { return c.try_receive(count); }
            void await_suspend(std::coroutine_handle<> waiting) const noexcept {
                c.waiting_ = waiting;
            }
            ssize_t await_resume() noexcept {
                if (count < 0) c.try_receive(count);
                return count;
            }
        };
        return awaiter{*this};
    }

    /// False: the connection is broken.
    bool send(std::size_t size) { return out_.send(fd_, buffer, size); }
    bool all_sent() const noexcept { return out_.empty(); }
    /// Until the peer takes more. False: the connection is broken.
    auto flush() noexcept {
        struct awaiter {
            connection& c;
            static bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<> waiting) const {
                c.waiting_ = waiting;
                c.watch_out();
            }
            bool await_resume() const { return c.out_.flush(c.fd_); }
        };
        return awaiter{*this};
    }

private:
    static constexpr std::uint32_t watched = EPOLLIN | EPOLLRDHUP | EPOLLET;

    /// False: there is nothing yet. A short read proves that TCP is drained, unless it has ended.
    bool try_receive(ssize_t& count) noexcept {
        if (!may_read_) return false;
        count = ::recv(fd_, buffer, sizeof buffer, 0);
        may_read_ = ends_ || count == static_cast<ssize_t>(sizeof buffer);
        return count >= 0 || errno != EAGAIN;
    }

    void watch_out() {
        if (std::exchange(watches_out_, true)) return;
        control(EPOLL_CTL_MOD, fd_, watched | EPOLLOUT, this);
    }

    int fd_;
    bool watches_out_ = false;
    bool may_read_ = true;
    bool ends_ = false;
    std::coroutine_handle<> waiting_;
    bench::backlog out_;
};

detached serve(int fd) {
    connection peer(fd);
    for (;;) {
        const ssize_t count = co_await peer.receive();
        if (count < 0 && errno == EAGAIN) continue;
        if (count <= 0 || !peer.send(static_cast<std::size_t>(count))) co_return;
        while (!peer.all_sent()) {
            const bool works = co_await peer.flush();
            if (!works) co_return;
        }
    }
}

[[noreturn]] void run(int listener) {
    control(EPOLL_CTL_ADD, listener, EPOLLIN | EPOLLET, nullptr);
    static epoll_event events[1024];
    for (;;) {
        const int n = ::epoll_wait(epoll, events, 1024, -1);
        for (int i = 0; i < n; ++i) {
            if (auto* c = static_cast<connection*>(events[i].data.ptr)) {
                c->event(events[i].events);
                continue;
            }
            for (int fd; (fd = bench::accept_from(listener)) >= 0;) serve(fd);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int listener = bench::listen_on(bench::port_argument(argc, argv));
    epoll = bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    run(listener);
}
