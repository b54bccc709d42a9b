// SPDX-License-Identifier: Apache-2.0
#include "faults/unwatched_child.hpp"
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <csignal>

#include <sys/wait.h>

namespace eddy::test::processes {

namespace {

/// A process that the library has not made is adopted, told to end, and waited for.
void adopted(eddy::loop& loop, attempt& a) {
    const pid_t pid = unwatched_child("/bin/sleep", "1000");
    ASSERT_NE(pid, -1);
    a.guard([&] {
        const process child = process::adopt(loop, pid);
        if (const auto error = child.kill(SIGTERM)) {
            a.told(error);
            return;
        }
        a.run(loop, child.wait() | ex::then([](const exit_status& status) {
                        return status.known && status.signal == SIGTERM;
                    }));
    });
    // Whom nobody could reach, or wait for, is still there.
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
}

constexpr kernel::call told[] = {kernel::call::pidfd_send_signal, kernel::call::fcntl,
                                 kernel::call::epoll_ctl};
constexpr loop_scenario tried{.run = &adopted, .tells = told};
EDDY_SCENARIO(Processes, tried);

}  // namespace

}  // namespace eddy::test::processes
