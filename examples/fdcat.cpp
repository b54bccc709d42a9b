// SPDX-License-Identifier: Apache-2.0

// Connects standard input and output to a socket:
//     fdcat ADDRESS        connects
//     fdcat -l ADDRESS     waits for a connection, and takes only one
// ADDRESS is 127.0.0.1:80, [::1]:80, unix:/run/app.sock or unix:@name. The end of the input is
// passed on, and later data of the other side is still written. Ends when both sides have ended.
#include "support/arguments.hpp"
#include "support/standard_fds.hpp"

#include <eddy/async/task.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/socket.hpp>
#include <eddy/os/stop_on_signals.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

#include <unistd.h>

namespace {

/// Prints where it listens, on standard error: standard output is for data. Port 0 finds a free
/// one.
template <class Acceptor>
eddy::task<eddy::stream_socket> accept_one(Acceptor acceptor) {
    eddy::address where;
    if (!acceptor.local_address(where)) {
        std::fprintf(stderr, "listening on %s\n", where.to_string().c_str());
    }
    co_return co_await acceptor.accept();
}

eddy::task<eddy::stream_socket> open(eddy::loop& loop, const eddy::address& where, bool listens) {
    if (listens && where.is_unix()) {
        co_return co_await accept_one(eddy::local::acceptor(loop, where));
    }
    if (listens) {
        co_return co_await accept_one(eddy::tcp::acceptor(loop, where));
    }
    if (where.is_unix()) {
        co_return co_await eddy::local::connect(loop, where);
    }
    co_return co_await eddy::tcp::connect(loop, where);
}

eddy::task<> copy(const eddy::stream& from, const eddy::stream& to) {
    std::array<std::byte, 65536> buffer;
    while (const std::size_t count = co_await from.read_some(buffer)) {
        co_await to.write(std::span(buffer).first(count));
    }
}

eddy::task<> send(const eddy::stream& input, const eddy::stream_socket& peer) {
    co_await copy(input, peer);
    co_await peer.shutdown(eddy::shutdown_side::send);
}

eddy::task<> converse(eddy::loop& loop, const eddy::address& where, bool listens) {
    const eddy::stream input(loop, eddy::unique_fd(STDIN_FILENO));
    const eddy::stream output(loop, eddy::unique_fd(STDOUT_FILENO));
    const eddy::stream_socket peer = co_await open(loop, where, listens);
    co_await eddy::ex::when_all(send(input, peer), copy(peer, output));
}

}  // namespace

int main(int argc, char** argv) try {
    const bool listens = argc > 1 && std::string_view(argv[1]) == "-l";
    eddy::address where;
    if (argc != (listens ? 3 : 2) || eddy::address::parse(argv[argc - 1], where)) {
        example::exit_with_usage(argv, "[-l] ADDRESS   (127.0.0.1:80, unix:/run/app.sock)");
    }
    example::require_standard_fds();
    eddy::loop loop;
    const eddy::stop_on_signals stopper(loop);  // so that the path of a unix socket is removed
    return loop.run(converse(loop, where, listens)) ? 0 : 128 + stopper.info().signum;
} catch (const std::exception& e) {
    std::fprintf(stderr, "fdcat: %s\n", e.what());
    return 1;
}
