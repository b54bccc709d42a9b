#pragma once

#include <eddy/async/as_result.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/loop/loop.hpp>

#include <cstdio>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

/// What the servers among the examples share.
namespace example {

/// Listens on the loopback address and says so. Throws std::system_error.
inline eddy::tcp::acceptor listen(eddy::loop& loop, unsigned short port) {
    eddy::tcp::acceptor acceptor(loop, eddy::address::loopback_v4(port));
    eddy::address where;
    if (auto error = acceptor.local_address(where)) {
        throw std::system_error(error, "local_address");
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
            auto peer = co_await eddy::as_result(acceptor.accept());
            if (peer) {
                sessions.start(session(std::move(*peer)));
            } else {
                std::fprintf(stderr, "accept: %s\n", peer.error().message().c_str());
            }
        }
    });
}

inline eddy::task<> end_of_input(eddy::loop& loop) {
    eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    char ignored[256];
    while (co_await input.read_some(eddy::bytes(ignored)) != 0) {}
}

/// Runs a server until it fails; if standard input is a pipe, also until that is closed. So whoever
/// starts it with a pipe can end it in good order, and it ends with whoever started it.
template <class Server>
void run_server(eddy::loop& loop, Server server) {
    struct stat input {};
    if (::fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode)) {
        loop.run(eddy::when_any(std::move(server), end_of_input(loop)));
    } else {
        loop.run(std::move(server));
    }
}

}  // namespace example
