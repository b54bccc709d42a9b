// SPDX-License-Identifier: Apache-2.0

// An echo server with senders, without a coroutine:  echo_sender PORT
// The environment variable EDDY_ENGINE selects the engine (epoll, io_uring, poll, best).
#include "support/arguments.hpp"
#include "support/run.hpp"
#include "support/server.hpp"

#include <eddy/async/finally.hpp>
#include <eddy/async/repeat.hpp>
#include <eddy/ex/execution.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

namespace {

namespace ex = eddy::ex;

/// Echoes once. Completes with true when the stream is over.
auto echo_once(const eddy::tcp::socket& peer) {
    return peer.receive() | ex::let_value([&peer](const eddy::lease& received) {
               return peer.write(received.data());
           }) |
           ex::then([](std::size_t count) { return count == 0; });
}

/// let_value keeps the socket, or the received bytes, in the operation state. Any error ends the
/// connection silently, because peers often reset connections.
auto echo(eddy::tcp::socket peer) {
    return ex::just(std::move(peer)) | ex::let_value([](const eddy::tcp::socket& s) {
               return eddy::repeat_until([&s] { return echo_once(s); });
           }) |
           ex::upon_error([](auto&&) noexcept {});
}

/// Starts a session, or closes the connection if there is no memory for one.
void start(eddy::tcp::socket peer, ex::counting_scope& sessions) noexcept try {
    ex::spawn(echo(std::move(peer)), sessions.get_token());
} catch (const std::bad_alloc& e) {
    std::fprintf(stderr, "a connection is closed: %s\n", e.what());
}

auto serve(eddy::tcp::acceptor& acceptor, ex::counting_scope& sessions) {
    return eddy::repeat([&] {
        return acceptor.accept() | ex::then([&sessions](eddy::tcp::socket peer) noexcept {
                   start(std::move(peer), sessions);
               });
    });
}

auto end(ex::counting_scope& sessions) {
    return ex::just() | ex::let_value([&sessions] {
               sessions.request_stop();
               return sessions.join();
           });
}

}  // namespace

int main(int argc, char** argv) try {
    const auto port = example::port_argument(argc, argv);
    eddy::loop loop;
    eddy::tcp::acceptor acceptor = example::listen(loop, port);
    ex::counting_scope sessions;
    example::run_until_input_ends(loop, eddy::finally(serve(acceptor, sessions), end(sessions)));
} catch (const std::exception& e) {
    std::fprintf(stderr, "echo_sender: %s\n", e.what());
    return 1;
}
