// SPDX-License-Identifier: Apache-2.0
#include "faults/received.hpp"
#include "faults/with_every_fault.hpp"

#include <eddy/loop/embedding.hpp>

#include <string>
#include <string_view>

#include <poll.h>

namespace eddy::test::embedding_faults {

namespace {

constexpr std::string_view hello = "hello";

/// A host that sleeps on the one fd lets the loop inside it receive and answer, with a deadline.
void lives_in_a_host(eddy::loop& outside, attempt& a) {
    auto [server, client] = tcp_pair();
    a.guard([&, fd = &server] {
        eddy::loop loop({.engine = outside.engine(), .wait_retry = 20ms});
        embedding inner(loop);
        const descriptor socket(loop, std::move(*fd));
        std::string buffer(hello.size(), '\0');
        recorder writing;
        recorder reading([&](recorder& r) {
            a.told(r.error());
            if (r.result()) {
                const std::string_view got(buffer.data(), r.count());
                writing.start(loop, eddy::send_all(socket, bytes(got)));
            }
        });
        reading.start(loop, recv_all(socket, bytes(buffer)), clock::now() + 1h);
        send_all(client.get(), hello);
        const auto done = [&] { return reading.ended() && (writing.ended() || !reading.result()); };
        const time_point end = clock::now() + a.limit();
        while (!done() && clock::now() < end) {
            pollfd one{inner.handle(), POLLIN, 0};
            ::poll(&one, 1, 10);
            inner.run_ready();
        }
        a.told(writing.error());
        a.succeed(done() && received_by(client.get()) == hello);
        if (!done()) {
            a.give_up();
        }
    });
}

#define EDDY_WHERE_LOOPS_CAN_BE_EMBEDDED(suite) \
    INSTANTIATE_TEST_SUITE_P(                   \
        Engine, suite, ::testing::Values(engine_kind::epoll, engine_kind::io_uring), engine_name)

constexpr loop_scenario tried{&lives_in_a_host};
EDDY_SCENARIO_ON(EDDY_WHERE_LOOPS_CAN_BE_EMBEDDED, Embedding, tried);

}  // namespace

}  // namespace eddy::test::embedding_faults
