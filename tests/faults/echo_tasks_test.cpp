// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>
#include <eddy/io/read_until.hpp>

#include <array>
#include <span>
#include <string>

namespace eddy::test::echo_tasks {

namespace {

constexpr std::string_view hello = "hello, whoever you are\n";

task<> serve_one(const tcp::acceptor& acceptor) {
    const tcp::socket peer = co_await acceptor.accept();
    std::array<std::byte, 64> data;
    while (const std::size_t count = co_await peer.read_some(data)) {
        co_await peer.write(std::span(data).first(count));
    }
}

task<bool> greet(eddy::loop& loop, address where) {
    const tcp::socket server = co_await tcp::connect(loop, where);
    co_await server.write(bytes(hello));
    std::string answer;
    co_await read_until(server, answer, "\n", 64);
    co_await server.shutdown(shutdown_side::send);
    co_return answer == hello;
}

/// A server and its client, both with tasks. The first that fails ends the other.
void echo(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        tcp::acceptor acceptor(loop, address::loopback_v4(0));
        address where;
        a.told(acceptor.local_address(where));
        if (!where) {
            return;
        }
        const auto both = [&]() -> task<bool> {
            co_return co_await ex::when_all(greet(loop, where), serve_one(acceptor));
        };
        a.run(loop, both());
    });
}

constexpr loop_scenario tried{&echo};
EDDY_SCENARIO(EchoTasks, tried);

}  // namespace

}  // namespace eddy::test::echo_tasks
