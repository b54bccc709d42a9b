// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/received.hpp"
#include "faults/with_every_fault.hpp"

#include <cerrno>
#include <string_view>

#include <unistd.h>

namespace eddy::test::echo_watches {

namespace {

constexpr std::string_view hello = "hello, whoever you are";

/// A watch echoes what there is until the end, with calls of its own.
void echo(eddy::loop& loop, attempt& a) {
    auto [server, client] = tcp_pair();
    send_all(client.get(), hello);
    ::shutdown(client.get(), SHUT_WR);
    a.guard([&, fd = server.get()] {
        bool ended = false;
        bool failed = false;
        int endings = 0;
        const auto handle = loop.on_readable(fd, [&](fd_watch& w) {
            EXPECT_EQ(endings, 0) << "it is called after its end";
            if (any(w.ready() & interest::invalid)) {
                a.told({EBADF, std::system_category()});
                failed = true;
                ++endings;
                return reaction::disarm;
            }
            char buffer[8];
            const auto size = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
            ended = size == 0;
            failed = size < 0;
            if (size > 0) {
                send_all(fd, std::string_view(buffer, static_cast<std::size_t>(size)));
            }
            if (ended || failed) {
                ++endings;
                return reaction::disarm;
            }
            return reaction::rearm;
        });
        drive(
            loop, a, [&] { return ended || failed || !handle->armed(); },
            [&] { handle->disarm(); });
        EXPECT_FALSE(handle->armed());
        // A second end would come in a later turn.
        a.guard([&] {
            for (int turns = 0; turns != 3; ++turns) {
                loop.poll();
            }
        });
        // A watch that was cancelled, or whose loop cannot wait, ends without a call.
        EXPECT_EQ(endings, ended || failed ? 1 : 0);
        a.succeed(ended && received_by(client.get()) == hello);
    });
}

constexpr kernel::call told[] = {kernel::call::epoll_ctl, kernel::call::fcntl};
constexpr loop_scenario tried{.run = &echo, .tells = told};
EDDY_SCENARIO(EchoWatches, tried);

}  // namespace

}  // namespace eddy::test::echo_watches
