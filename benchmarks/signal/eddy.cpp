// SPDX-License-Identifier: Apache-2.0
// Signals on eddy's signal_source.

#include "common/eddy_loop.hpp"
#include "signal/harness.hpp"

namespace {

template <class Handler>
class eddy_signals : eddy::signal_wait {
public:
    explicit eddy_signals(Handler& handler) : signal_wait(&on_signal), handler_(handler) {
        eddy::block_signals({SIGUSR1});
        source_.attach_or_throw({SIGUSR1});
        wait();
    }

    void run() { loop_->run(); }
    void stop() { loop_->stop(); }

private:
    void wait() {
        if (const auto error = source_.wait(*this, SIGUSR1)) bench::die("wait", error.value());
    }
    static void on_signal(eddy::signal_wait& w) noexcept {
        auto& self = static_cast<eddy_signals&>(w);
        if (w.error()) return;  // the loop ends
        self.handler_.came();
        self.wait();
    }

    Handler& handler_;
    bench::eddy_loop loop_;
    eddy::signal_source source_{loop_.get()};
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<eddy_signals>(argc, argv); }
