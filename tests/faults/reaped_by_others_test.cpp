// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <sys/wait.h>

namespace eddy::test::reaped_by_others {

namespace {

/// A child that others have reaped: the kernel is asked how it has ended.
void is_recalled(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        const process child(loop, {.program = "/bin/false"});
        ::waitpid(child.pid(), nullptr, 0);
        a.run(loop, child.wait() | ex::then([](const exit_status& status) {
                        return status.known && status.code == 1;
                    }));
    });
}

/// Linux keeps that since 6.15.
const char* obstacle() {
    static const bool kept = [] {
        eddy::loop loop;
        const process child(loop, {.program = "/bin/false"});
        ::waitpid(child.pid(), nullptr, 0);
        attempt a(patience);
        a.run(loop, child.wait() | ex::then([](const exit_status&) { return true; }));
        return a.succeeded();
    }();
    return kept ? nullptr : "this kernel does not tell how a process has ended that is gone";
}

constexpr loop_scenario tried{.run = &is_recalled, .tcp = false, .obstacle = &obstacle};
EDDY_SCENARIO(ReapedByOthers, tried);

}  // namespace

}  // namespace eddy::test::reaped_by_others
