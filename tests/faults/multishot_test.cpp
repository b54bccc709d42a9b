// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/with_every_fault.hpp"

#include <string>
#include <string_view>

#include <sys/socket.h>

namespace eddy::test::multishot {

namespace {

constexpr std::string_view hello = "hello, whoever you are";

/// One listener accepts for as long as it is asked to.
void accepts(eddy::loop& loop, attempt& a) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    unique_fd clients[] = {tcp_connect(port), tcp_connect(port)};
    a.guard([&] {
        const descriptor attached(loop, listener.take());
        std::size_t accepted = 0;
        bool canceled = false;
        recorder accepting([&](recorder& r) {
            if (r.result()) {
                unique_fd(r.result().fd()).reset();
                if (++accepted == std::size(clients)) {
                    canceled = true;
                    loop.cancel(r.operation());
                }
            } else if (!canceled) {
                a.told(r.error());
            }
        });
        accepting.start(loop, accept_multishot(attached));
        drive(
            loop, a, [&] { return accepting.ended(); },
            [&] {
                canceled = true;
                loop.cancel(accepting.operation());
            });
        EXPECT_EQ(accepting.endings(), 1U);
        a.succeed(accepted == std::size(clients));
    });
}

/// One receive brings all that a peer sends.
void receives(eddy::loop& loop, attempt& a) {
    auto [server, client] = tcp_pair();
    send_all(client.get(), hello);
    ::shutdown(client.get(), SHUT_WR);
    a.guard([&, fd = &server] {
        const descriptor attached(loop, std::move(*fd));
        std::string got;
        recorder receiving([&](recorder& r) {
            const lease part = loop.take_lease(r.operation());
            const auto* const text = reinterpret_cast<const char*>(part.data().data());
            got.append(text, part.data().size());
            a.told(r.error());
        });
        receiving.start(loop, receive_multishot(attached));
        drive(
            loop, a, [&] { return receiving.ended(); },
            [&] { loop.cancel(receiving.operation()); });
        EXPECT_EQ(receiving.endings(), 1U);
        a.succeed(got == hello && receiving.result().ok());
    });
}

/// Readiness is told again and again.
void waits(eddy::loop& loop, attempt& a) {
    const auto [server, client] = tcp_pair();
    send_all(client.get(), hello);
    a.guard([&] {
        const descriptor attached(loop, unique_fd(::dup(server.get())));
        int told = 0;
        bool canceled = false;
        recorder waiting([&](recorder& r) {
            if (!r.result() && !canceled) {
                a.told(r.error());
            }
            if (r.ended() || !r.result()) {
                return;
            }
            if (++told == 2) {
                canceled = true;
                loop.cancel(r.operation());
            } else {
                send_all(client.get(), hello);
            }
        });
        waiting.start(loop, wait_multishot(attached, interest::readable));
        drive(
            loop, a, [&] { return waiting.ended(); },
            [&] {
                canceled = true;
                loop.cancel(waiting.operation());
            });
        EXPECT_EQ(waiting.endings(), 1U);
        a.succeed(told == 2);
    });
}

constexpr loop_scenario tried_accepts{&accepts};
EDDY_SCENARIO(MultishotAccepts, tried_accepts);
constexpr loop_scenario tried_receives{&receives};
EDDY_SCENARIO(MultishotReceives, tried_receives);
constexpr loop_scenario tried_waits{&waits};
EDDY_SCENARIO(MultishotWaits, tried_waits);

}  // namespace

}  // namespace eddy::test::multishot
