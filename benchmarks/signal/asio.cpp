// SPDX-License-Identifier: Apache-2.0
// Signals on asio's signal_set; a wait is started again by its handler.

#include <asio.hpp>

#include "signal/harness.hpp"

namespace {

template <class Handler>
class asio_signals {
public:
    explicit asio_signals(Handler& handler) : handler_(handler), signals_(context_, SIGUSR1) {
        wait();
    }

    void run() { context_.run(); }
    void stop() { context_.stop(); }

private:
    void wait() {
        signals_.async_wait([this](std::error_code error, int) {
            if (error) return;
            handler_.came();
            wait();
        });
    }

    Handler& handler_;
    asio::io_context context_{1};
    asio::signal_set signals_;
};

}  // namespace

int main(int argc, char** argv) { return bench::signal_main<asio_signals>(argc, argv); }
