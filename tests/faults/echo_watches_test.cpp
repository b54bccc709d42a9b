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
        const auto handle = loop.on_readable(fd, [&](fd_watch& w) {
            if (any(w.ready() & interest::invalid)) {
                a.told({EBADF, std::system_category()});
                failed = true;
                return reaction::disarm;
            }
            char buffer[8];
            const auto size = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
            ended = size == 0;
            failed = size < 0;
            if (size > 0) {
                send_all(fd, std::string_view(buffer, static_cast<std::size_t>(size)));
            }
            return ended || failed ? reaction::disarm : reaction::rearm;
        });
        drive(
            loop, a, [&] { return ended || failed || !handle->armed(); },
            [&] { handle->disarm(); });
        a.succeed(ended && received_by(client.get()) == hello);
    });
}

constexpr loop_scenario tried{&echo};
EDDY_SCENARIO(EchoWatches, tried);

}  // namespace

}  // namespace eddy::test::echo_watches
