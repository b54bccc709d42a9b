// SPDX-License-Identifier: Apache-2.0

// Serves echo until a signal arrives.
#include "demo/parts.hpp"

#include "support/echo_server.hpp"

#include <eddy/os/stop_on_signals.hpp>

#include <cstdio>

namespace demo {

int serve(unsigned short port) {
    eddy::loop loop({.name = "server"});
    eddy::unique_fd listener = example::listen_on(port);
    std::printf("port %d\n", example::port_of(listener.get()));
    std::printf("serving echo on the engine %s; ^C to stop\n", eddy::to_string(loop.engine()));
    std::fflush(stdout);
    const eddy::stop_on_signals stopper(loop);
    const example::echo_server server(loop, std::move(listener));
    loop.run(eddy::run_mode::drained);
    std::printf("signal %d\n", stopper.info().signum);
    std::printf("served %llu requests\n", static_cast<unsigned long long>(server.requests()));
    return 0;
}

}  // namespace demo
