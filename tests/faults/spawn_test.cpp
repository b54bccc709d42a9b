// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <csignal>
#include <string>
#include <string_view>

#include <sys/wait.h>

namespace eddy::test::spawn_faults {

namespace {

constexpr std::string_view line = "a line\n";

/// A child gets a line through one pipe, gives it back through another, and ends.
void runs(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        process child(loop, {.program = "/bin/cat", .in = stdio::pipe(), .out = stdio::pipe()});
        const auto work = [&]() -> task<bool> {
            co_await child.stdin_pipe().write(bytes(line));
            co_await child.stdin_pipe().close();
            std::string text(64, '\0');
            text.resize(co_await child.stdout_pipe().read(bytes(text)));
            const exit_status status = co_await child.wait();
            co_return status.success() && text == line;
        };
        a.run(loop, work());
    });
    // A child that nobody could wait for has its input closed by now, and ends.
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | __WALL) == 0) {}
}

constexpr loop_scenario tried{.run = &runs, .tcp = false};
EDDY_SCENARIO(Spawn, tried);

}  // namespace

}  // namespace eddy::test::spawn_faults
