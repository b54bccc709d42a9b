// SPDX-License-Identifier: Apache-2.0
// Children on eddy's process_handle.

#include "common/eddy_loop.hpp"
#include "spawn/harness.hpp"

namespace {

template <class Handler>
class eddy_spawner : eddy::exit_wait {
public:
    explicit eddy_spawner(Handler& handler) : exit_wait(&on_exit), handler_(handler) {}

    void spawn() {
        if (const auto error = eddy::process_handle::spawn(loop_.get(), options_, child_)) {
            bench::die("spawn", error.value());
        }
        child_.start(*this);
    }
    void run() { loop_->run(); }
    void stop() { loop_->stop(); }

private:
    static void on_exit(eddy::exit_wait& w) noexcept {
        auto& self = static_cast<eddy_spawner&>(w);
        self.handler_.ended(!w.error() && w.status().success());
    }

    Handler& handler_;
    eddy::process_options options_{.program = bench::program};
    bench::eddy_loop loop_;
    eddy::process_handle child_;
};

}  // namespace

int main(int argc, char** argv) { return bench::spawn_main<eddy_spawner>(argc, argv); }
