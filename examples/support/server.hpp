// SPDX-License-Identifier: Apache-2.0

// Opens the listener of an example server.
#pragma once

#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/loop/loop.hpp>

#include <cstdio>
#include <system_error>

namespace example {

/// Listens on the loopback address, and prints port and engine. Throws std::system_error.
inline eddy::tcp::acceptor listen(eddy::loop& loop, unsigned short port) {
    eddy::tcp::acceptor acceptor(loop, eddy::address::loopback_v4(port));
    eddy::address where;
    if (auto error = acceptor.local_address(where)) {
        throw std::system_error(error);
    }
    std::printf("port %d\nengine %s\n", where.port(), eddy::to_string(loop.engine()));
    std::fflush(stdout);
    return acceptor;
}

}  // namespace example
