// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/with_every_fault.hpp"

#include <string>
#include <utility>

namespace eddy::test::making {

namespace {

/// A loop is made, is woken by a post, receives from a socket into a buffer of its own, reads from
/// a terminal, and ends.
void lives(eddy::loop& outside, attempt& a) {
    auto [near, far] = unix_stream_pair();
    send_all(far.get(), "x");
    auto [master, terminal] = make_pty();
    write_all(master.get(), "y\n");
    a.guard([&, socket = &near, tty = &terminal] {
        eddy::loop loop({.engine = outside.engine(), .timer_slack = 1us, .wait_retry = 20ms});
        const descriptor connected(loop, std::move(*socket));
        const descriptor typed(loop, std::move(*tty));
        bool ran = false;
        std::string line(8, '\0');
        recorder receiving([&](recorder& r) {
            loop.take_lease(r.operation());  // back at once
        });
        recorder reading;
        loop.post([&] { ran = true; });
        receiving.start(loop, receive(connected));
        reading.start(loop, read(typed, bytes(line)));
        drive(
            loop, a, [&] { return ran && receiving.ended() && reading.ended(); },
            [&] {
                loop.cancel(receiving.operation());
                loop.cancel(reading.operation());
            });
        a.told(receiving.error());
        a.told(reading.error());
        a.succeed(ran && receiving.count() == 1 && reading.result().ok());
    });
}

constexpr kernel::call told[] = {kernel::call::eventfd, kernel::call::epoll_create,
                                 kernel::call::epoll_ctl};
constexpr loop_scenario tried{.run = &lives, .tcp = false, .tells = told};
EDDY_SCENARIO(Making, tried);

}  // namespace

}  // namespace eddy::test::making
