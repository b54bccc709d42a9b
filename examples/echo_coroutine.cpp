// SPDX-License-Identifier: Apache-2.0

// An echo server with coroutines:  echo_coroutine PORT
// The environment variable EDDY_ENGINE selects the engine (epoll, io_uring, poll, best).
#include "support/arguments.hpp"
#include "support/run.hpp"
#include "support/server.hpp"

#include <eddy/async/serve_each.hpp>

#include <cstdio>
#include <exception>

namespace {

/// Any error ends the connection silently, because peers often reset connections.
eddy::task<> echo(eddy::tcp::socket peer) try {
    while (const eddy::lease received = co_await peer.receive()) {
        co_await peer.write(received.data());
    }
} catch (const std::exception&) {}

}  // namespace

int main(int argc, char** argv) try {
    const auto port = example::port_argument(argc, argv);
    eddy::loop loop;
    example::run_until_input_ends(loop, eddy::serve_each(example::listen(loop, port), echo));
} catch (const std::exception& e) {
    std::fprintf(stderr, "echo_coroutine: %s\n", e.what());
    return 1;
}
