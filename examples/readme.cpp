/// The echo server of the README. A test compares the two.
#include "support/arguments.hpp"
#include "support/listen.hpp"

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>

namespace {

// clang-format off
eddy::task<> echo(eddy::tcp::socket peer) {
    std::array<std::byte, 4096> data;
    while (const auto count = co_await peer.read_some(data)) {
        co_await peer.write(std::span(data).first(count));
    }
}

eddy::task<> serve(eddy::loop& loop, eddy::tcp::acceptor acceptor) {
    for (;;) {
        eddy::spawn(loop, echo(co_await acceptor.accept()));
    }
}
// clang-format on

}  // namespace

int main(int argc, char** argv) try {
    eddy::loop loop;
    eddy::unique_fd listener = example::listen_on(example::port_argument(argc, argv));
    std::printf("port %d\nengine %s\n", example::port_of(listener.get()),
                eddy::to_string(loop.engine()));
    std::fflush(stdout);
    loop.run(serve(loop, eddy::tcp::acceptor(loop, std::move(listener))));
} catch (const std::exception& e) {
    std::fprintf(stderr, "readme: %s\n", e.what());
    return 1;
}
