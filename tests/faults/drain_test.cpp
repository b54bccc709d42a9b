// SPDX-License-Identifier: Apache-2.0
#include "faults/received.hpp"
#include "faults/with_every_fault.hpp"
#include "loop/work.hpp"

#include <string>
#include <string_view>

namespace eddy::test::drain_faults {

namespace {

constexpr std::string_view hello = "hello, whoever you are";

/// A loop drains with a receive, a multishot accept, a write and a timer in flight: what would
/// never end is cancelled, and the write is waited for.
void drains(eddy::loop& loop, attempt& a) {
    auto [server, client] = tcp_pair();
    tcp_listener listener;
    a.guard([&, fd = &server] {
        const descriptor socket(loop, std::move(*fd));
        const descriptor listening(loop, listener.take());
        std::string buffer(64, '\0');
        alarm ring(loop);
        recorder reading;
        recorder accepting;
        recorder writing;
        loop.post_after(1h, ring);
        reading.start(loop, recv(socket, bytes(buffer)));
        accepting.start(loop, accept_multishot(listening));
        writing.start(loop, eddy::send_all(socket, bytes(hello)));
        loop.post([&] { loop.stop(); });
        a.guard([&] { loop.run(run_mode::drained, {.until = clock::now() + a.limit()}); });
        if (reading.endings() + accepting.endings() + writing.endings() < 3) {
            a.give_up();  // on a busy machine, the loop has not given up waiting so soon
            loop.stop();
            a.guard([&] { loop.run(run_mode::drained); });
        }
        for (recorder* one : {&reading, &accepting, &writing}) {
            EXPECT_EQ(one->endings(), 1U);
            const bool canceled = one->error() == std::errc::operation_canceled;
            a.told(canceled && one != &writing ? std::error_code() : one->error());
        }
        EXPECT_FALSE(ring.armed());
        a.succeed(received_by(client.get()) == hello);
    });
}

constexpr loop_scenario tried{&drains};
EDDY_SCENARIO(Drain, tried);

}  // namespace

}  // namespace eddy::test::drain_faults
