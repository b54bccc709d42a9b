// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/io.hpp>

#include <string>
#include <string_view>

namespace eddy::test::echo_senders {

namespace {

constexpr std::string_view hello = "hello, whoever you are";

/// Ends with its peer.
auto serve(const tcp::socket& peer) {
    return repeat_until([&peer] {
        return peer.receive() |
               ex::let_value([&peer](const lease& got) { return peer.write(got.data()); }) |
               ex::then([](std::size_t count) { return count == 0; });
    });
}

auto greet(const tcp::socket& server, std::span<std::byte> answer) {
    return server.write(bytes(hello)) |
           ex::let_value([&server](std::size_t) { return server.shutdown(shutdown_side::send); }) |
           ex::let_value([&server, answer] { return server.read(answer); });
}

/// Both sides with senders. The first that fails ends the other.
void echo(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        const tcp::acceptor acceptor(loop, address::loopback_v4(0));
        address where;
        if (const auto error = acceptor.local_address(where)) {
            a.told(error);
            return;
        }
        std::string answer(hello.size(), '\0');
        auto server =
            acceptor.accept() | ex::let_value([](const tcp::socket& peer) { return serve(peer); });
        auto client = tcp::connect(loop, where) |
                      ex::let_value([&](const tcp::socket& s) { return greet(s, bytes(answer)); });
        a.run(loop,
              ex::when_all(std::move(client), std::move(server)) | ex::then([&](std::size_t count) {
                  return count == hello.size() && answer == hello;
              }));
    });
}

constexpr loop_scenario tried{&echo};
EDDY_SCENARIO(EchoSenders, tried);

}  // namespace

}  // namespace eddy::test::echo_senders
