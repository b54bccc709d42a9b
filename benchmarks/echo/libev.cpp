// SPDX-License-Identifier: Apache-2.0
// Echo on libev: one ev_io a connection, switched to writing only while the peer is behind.

#include <ev.h>
#include <unistd.h>

#include "echo/backlog.hpp"
#include "echo/listener.hpp"

namespace {

char buffer[bench::read_max];

struct connection {
    ev_io io;
    bench::backlog out;
};

void watch(struct ev_loop* loop, connection& c, int events) {
    ev_io_stop(loop, &c.io);
    ev_io_set(&c.io, c.io.fd, events);
    ev_io_start(loop, &c.io);
}

bool receive(struct ev_loop* loop, connection& c) {
    const ssize_t n = ::recv(c.io.fd, buffer, sizeof buffer, 0);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    if (!c.out.send(c.io.fd, buffer, static_cast<std::size_t>(n))) return false;
    if (!c.out.empty()) watch(loop, c, EV_WRITE);
    return true;
}

bool flush(struct ev_loop* loop, connection& c) {
    if (!c.out.flush(c.io.fd)) return false;
    if (c.out.empty()) watch(loop, c, EV_READ);
    return true;
}

void on_connection(struct ev_loop* loop, ev_io* io, int) {
    auto* c = reinterpret_cast<connection*>(io);
    if (!(c->out.empty() ? receive(loop, *c) : flush(loop, *c))) {
        ev_io_stop(loop, io);
        ::close(io->fd);
        delete c;
    }
}

void on_listener(struct ev_loop* loop, ev_io* io, int) {
    for (int fd; (fd = bench::accept_from(io->fd)) >= 0;) {
        auto* c = new connection{};
        ev_io_init(&c->io, on_connection, fd, EV_READ);
        ev_io_start(loop, &c->io);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int listener = bench::listen_on(bench::port_argument(argc, argv));
    struct ev_loop* loop = ev_loop_new(EVBACKEND_EPOLL);
    if (loop == nullptr) bench::die("ev_loop_new");
    ev_io io;
    ev_io_init(&io, on_listener, listener, EV_READ);
    ev_io_start(loop, &io);
    ev_run(loop, 0);
}
