// SPDX-License-Identifier: Apache-2.0
#include "faults/unwatched_child.hpp"
#include "faults/with_every_fault.hpp"
#include "support/signals.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/children.hpp>
#include <eddy/io/io.hpp>

#include <csignal>

#include <sys/wait.h>

namespace eddy::test::children_faults {

namespace {

/// A child that the library has not made ends, and whoever waits for any child is told.
void end(eddy::loop& loop, attempt& a) {
    const blocked_signals blocked(signal_set{SIGCHLD});
    a.guard([&] {
        child_source source(loop);
        EXPECT_NE(unwatched_child("/bin/false"), -1);
        a.run(loop, wait_any_child(source) |
                        ex::then([](const child_event& event) { return event.status.code == 1; }));
    });
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | __WALL) == 0) {}
}

constexpr loop_scenario tried{.run = &end, .records = true};
EDDY_SCENARIO(Children, tried);

}  // namespace

}  // namespace eddy::test::children_faults
