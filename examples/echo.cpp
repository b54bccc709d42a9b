// SPDX-License-Identifier: Apache-2.0

// The simplest echo server, on bare operations:  echo PORT
// The environment variable EDDY_ENGINE selects the engine (epoll, io_uring, poll, best).
#include "support/arguments.hpp"
#include "support/echo_server.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
    eddy::loop loop;
    eddy::unique_fd listener = example::listen_on(example::port_argument(argc, argv));
    std::printf("port %d\n", example::port_of(listener.get()));
    std::printf("engine %s\n", eddy::to_string(loop.engine()));
    std::fflush(stdout);
    example::echo_server server(loop, std::move(listener));
    loop.run();
    return server.failed() ? 1 : 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "echo: %s\n", e.what());
    return 1;
}
