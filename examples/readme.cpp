// SPDX-License-Identifier: Apache-2.0

// The echo server of README.md. A test compares the two.
#include "support/arguments.hpp"
#include "support/listen.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>

// clang-format off
#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

eddy::task<> echo(eddy::tcp::socket peer) {
    std::array<std::byte, 4096> data;
    while (const auto count = co_await peer.read_some(data)) {
        co_await peer.write(std::span(data).first(count));
    }
}

eddy::task<> serve(eddy::tcp::acceptor acceptor) {
    return eddy::serve_each(std::move(acceptor), echo);
}
// clang-format on

int main(int argc, char** argv) try {
    eddy::loop loop;
    eddy::unique_fd listener = example::listen_on(example::port_argument(argc, argv));
    std::printf("port %d\nengine %s\n", example::port_of(listener.get()),
                eddy::to_string(loop.engine()));
    std::fflush(stdout);
    loop.run(serve(eddy::tcp::acceptor(loop, std::move(listener))));
} catch (const std::exception& e) {
    std::fprintf(stderr, "readme: %s\n", e.what());
    return 1;
}
