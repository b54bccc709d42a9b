// SPDX-License-Identifier: Apache-2.0
// Watching pipes on libev.

#include <ev.h>

#include "churn/harness.hpp"

namespace {

template <class Handler>
class ev_watchers {
public:
    ev_watchers(Handler& handler, const std::vector<int>& fds)
        : handler_(handler), loop_(ev_loop_new(EVBACKEND_EPOLL)), ios_(fds.size()) {
        if (loop_ == nullptr) bench::die("ev_loop_new");
        for (std::size_t i = 0; i < fds.size(); ++i) {
            ev_io_init(&ios_[i], on_io, fds[i], EV_READ);
            ios_[i].data = this;
        }
    }

    /// Set again, because the number may belong to another file by now: so libev tells the kernel.
    void add(unsigned i) {
        ev_io_set(&ios_[i], ios_[i].fd, EV_READ);
        ev_io_start(loop_, &ios_[i]);
    }
    void remove(unsigned i) { ev_io_stop(loop_, &ios_[i]); }
    void run() { ev_run(loop_, 0); }
    void stop() { ev_break(loop_, EVBREAK_ALL); }
    void turn() { ev_run(loop_, EVRUN_NOWAIT); }

private:
    static void on_io(struct ev_loop*, ev_io* io, int) {
        auto& self = *static_cast<ev_watchers*>(io->data);
        self.handler_.readable(static_cast<unsigned>(io - self.ios_.data()));
    }

    Handler& handler_;
    struct ev_loop* loop_;
    std::vector<ev_io> ios_;
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<ev_watchers>(argc, argv); }
