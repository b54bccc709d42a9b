// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <string_view>

#include <unistd.h>

namespace eddy::test::passed_fds {

namespace {

/// A descriptor goes from one end of a pair to the other, with some bytes.
void passes(eddy::loop& loop, attempt& a) {
    const fd_pair pipe = make_pipe();
    a.guard([&] {
        const auto ends = local::make_pair(loop);
        char buffer[16];
        const auto pass = [&]() -> task<bool> {
            const int fds[] = {pipe.second.get()};
            std::size_t sent = co_await ends.first.send_fds(bytes("log"), fds);
            while (sent < 3) {
                sent += co_await ends.first.write(bytes("log").subspan(sent, 3 - sent));
            }
            const auto got = co_await ends.second.receive_fds<1>(bytes(buffer));
            const bool written = got.fds.size() == 1 && ::write(got.fds[0].get(), "x", 1) == 1;
            co_return written&& got.size >= 1 && bytes_waiting(pipe.first.get()) == 1;
        };
        a.run(loop, pass());
    });
}

constexpr loop_scenario tried{.run = &passes, .tcp = false};
EDDY_SCENARIO(PassedFds, tried);

}  // namespace

}  // namespace eddy::test::passed_fds
