// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <string_view>

namespace eddy::test::udp_faults {

namespace {

constexpr std::string_view query = "query";
constexpr std::string_view answer = "an answer";

task<> serve_one(const udp::socket& server) {
    char buffer[64];
    const datagram got = co_await server.recv_from(bytes(buffer));
    co_await server.send_to(bytes(answer), got.from);
}

task<bool> ask(const udp::socket& client, address where) {
    co_await client.connect(where);
    co_await client.send(bytes(query));
    char buffer[64];
    const datagram got = co_await client.recv(bytes(buffer));
    co_return std::string_view(buffer, got.size) == answer;
}

void asks(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        const udp::socket server(loop, address::loopback_v4(0));
        const udp::socket client(loop, address::loopback_v4(0));
        address where;
        if (const auto error = server.local_address(where)) {
            a.told(error);
            return;
        }
        const auto both = [&]() -> task<bool> {
            co_return co_await ex::when_all(ask(client, where), serve_one(server));
        };
        a.run(loop, both());
    });
}

constexpr loop_scenario tried{.run = &asks, .messages = true};
EDDY_SCENARIO(Udp, tried);

}  // namespace

}  // namespace eddy::test::udp_faults
