// Echo on eddy's coroutines: one task for each connection.

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include "common/eddy_loop.hpp"
#include "echo/listener.hpp"

namespace {

eddy::task<> serve(eddy::tcp::socket peer) {
    while (const eddy::lease received = co_await peer.receive()) {
        co_await peer.write(received.data());
    }
}

/// A peer that resets is none of our business.
struct ignore {
    void operator()(const std::exception_ptr&) const noexcept {}
};

eddy::task<> listen(eddy::loop& loop, eddy::tcp::acceptor acceptor) {
    for (;;) {
        eddy::spawn(loop, serve(co_await acceptor.accept()), ignore());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop({.lease_size = bench::read_max});
    eddy::tcp::acceptor acceptor(loop.get(), eddy::unique_fd(bench::listen_on(port)));
    loop->run(listen(loop.get(), std::move(acceptor)));
}
