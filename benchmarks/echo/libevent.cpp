// SPDX-License-Identifier: Apache-2.0
// Echo on libevent's raw events (bufferevents copy): one persistent event a direction, assigned
// inside the connection; the writing one is added only while the peer is behind.

#include <event2/event.h>
#include <event2/event_struct.h>
#include <unistd.h>

#include "echo/backlog.hpp"
#include "echo/listener.hpp"

namespace {

char buffer[bench::read_max];

struct connection {
    event readable;
    event* writable = nullptr;
    bench::backlog out;
};

void on_writable(int fd, short, void* arg);

void close_connection(connection* c, int fd) {
    event_del(&c->readable);
    if (c->writable != nullptr) event_free(c->writable);
    ::close(fd);
    delete c;
}

void wait_for_room(connection* c, int fd) {
    if (c->writable == nullptr) {
        c->writable =
            event_new(event_get_base(&c->readable), fd, EV_WRITE | EV_PERSIST, on_writable, c);
    }
    event_del(&c->readable);
    event_add(c->writable, nullptr);
}

void on_readable(int fd, short, void* arg) {
    auto* c = static_cast<connection*>(arg);
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0 || !c->out.send(fd, buffer, static_cast<std::size_t>(n))) {
        close_connection(c, fd);
    } else if (!c->out.empty()) {
        wait_for_room(c, fd);
    }
}

void on_writable(int fd, short, void* arg) {
    auto* c = static_cast<connection*>(arg);
    if (!c->out.flush(fd)) {
        close_connection(c, fd);
    } else if (c->out.empty()) {
        event_del(c->writable);
        event_add(&c->readable, nullptr);
    }
}

void on_listener(int listener, short, void* arg) {
    for (int fd; (fd = bench::accept_from(listener)) >= 0;) {
        auto* c = new connection{};
        event_assign(&c->readable, static_cast<event_base*>(arg), fd, EV_READ | EV_PERSIST,
                     on_readable, c);
        event_add(&c->readable, nullptr);
    }
}

/// Without threads there is no locking, and changes are not collected: the fastest configuration
/// for fds that are registered once.
event_base* make_base() {
    event_config* config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    event_config_require_features(config, EV_FEATURE_O1);
    event_base* base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

}  // namespace

int main(int argc, char** argv) {
    const int listener = bench::listen_on(bench::port_argument(argc, argv));
    event_base* base = make_base();
    if (base == nullptr) bench::die("event_base_new");
    event* e = event_new(base, listener, EV_READ | EV_PERSIST, on_listener, base);
    event_add(e, nullptr);
    event_base_dispatch(base);
}
