// SPDX-License-Identifier: Apache-2.0
// Watching pipes on eddy's fd_watch. It reads until nothing is left, so that the next arming needs
// no system call.

#include <eddy/watch/watches.hpp>

#include <optional>

#include "churn/harness.hpp"
#include "common/eddy_loop.hpp"

namespace {

template <class Handler>
class eddy_watches {
public:
    eddy_watches(Handler& handler, const std::vector<int>& fds)
        : handler_(handler), fds_(fds), watchers_(fds.size()) {}

    void add(unsigned i) { watchers_[i].emplace(*this, i, fds_[i]); }
    void remove(unsigned i) { watchers_[i].reset(); }
    void run() { loop_->run(); }
    void stop() { loop_->stop(); }
    void turn() { loop_->poll(); }

    template <class Function>
    void turns(unsigned count, Function f) {
        round<Function> each(loop_.get(), f, count);
        loop_->post(each);
        loop_->run();
    }

private:
    template <class Function>
    struct round : eddy::entry {
        round(eddy::loop& home, Function f, unsigned count)
            : entry(on_run), on(home), function(f), left(count) {}

        eddy::loop& on;
        Function function;
        unsigned left;

        static void on_run(eddy::entry& e) noexcept {
            auto& self = static_cast<round&>(e);
            if (self.left-- == 0) return self.on.stop();
            self.function();
            self.on.post_next(self);
        }
    };

    struct watcher : eddy::fd_watch {
        watcher(eddy_watches& by, unsigned n, int fd)
            : fd_watch(by.loop_.get(), fd, eddy::interest::readable, &on_ready),
              owner(by),
              number(n) {}

        eddy_watches& owner;
        unsigned number;
    };

    static eddy::reaction on_ready(eddy::fd_watch& w) noexcept {
        auto& self = static_cast<watcher&>(w);
        char bytes[16];
        const ssize_t n = ::read(self.native_handle(), bytes, sizeof bytes);
        for (ssize_t i = 0; i < n; ++i) self.owner.handler_.received(self.number);
        return n < static_cast<ssize_t>(sizeof bytes) ? eddy::reaction::rearm
                                                      : eddy::reaction::again;
    }

    Handler& handler_;
    const std::vector<int>& fds_;
    bench::eddy_loop loop_;
    std::vector<std::optional<watcher>> watchers_;  // never grows: a watch stays where it is
};

}  // namespace

int main(int argc, char** argv) { return bench::churn_main<eddy_watches>(argc, argv); }
