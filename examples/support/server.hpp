#pragma once

#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/loop/loop.hpp>

#include <cstdio>
#include <system_error>
#include <utility>

/// What the servers among the examples share.
namespace example {

/// Listens on the loopback address and says so. Throws std::system_error.
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

/// Runs `session(socket)`, a task, for each connection, until it is stopped: then it stops them
/// too, and waits for them. What a session throws ends the whole server.
template <class Session>
eddy::task<> serve_each(eddy::tcp::acceptor acceptor, Session session) {
    co_await eddy::with_nursery([&](eddy::nursery& sessions) -> eddy::task<> {
        for (;;) {
            try {
                sessions.start(session(co_await acceptor.accept()));
            } catch (const std::system_error& e) {
                std::fprintf(stderr, "accept: %s\n", e.code().message().c_str());
            }
        }
    });
}

}  // namespace example
