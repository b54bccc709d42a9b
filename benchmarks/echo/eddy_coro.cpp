// SPDX-License-Identifier: Apache-2.0
// Echo on eddy's coroutines: one task for each connection. BENCH_RECEIVES=ahead: of what one
// multishot operation has received.

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

#include <cstdlib>
#include <string_view>

namespace {

eddy::task<> serve(eddy::tcp::socket peer) {
    while (const eddy::lease received = co_await peer.receive()) {
        co_await peer.write(received.data());
    }
}

eddy::task<> serve_ahead(eddy::tcp::socket peer) {
    eddy::incoming<eddy::lease> data(peer);
    while (const eddy::lease received = co_await data.next()) {
        co_await peer.write(received.data());
    }
}

/// A peer that resets is none of our business.
struct ignore {
    void operator()(const std::exception_ptr&) const noexcept {}
};

eddy::task<> listen(eddy::loop& loop, eddy::tcp::acceptor acceptor, bool ahead) {
    const auto serve_one = ahead ? serve_ahead : serve;
    for (;;) {
        eddy::spawn(loop, serve_one(co_await acceptor.accept()), ignore());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop({.lease_size = bench::read_max});
    eddy::tcp::acceptor acceptor(loop.get(), eddy::unique_fd(bench::listen_on(port)));
    const char* const receives = std::getenv("BENCH_RECEIVES");
    const bool ahead = receives != nullptr && receives == std::string_view("ahead");
    loop->run(listen(loop.get(), std::move(acceptor), ahead));
}
