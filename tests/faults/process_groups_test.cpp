// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"
#include "kernel/call.hpp"

#include <eddy/io/io.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>

#include <sys/wait.h>

namespace eddy::test::process_groups {

namespace {

/// The kernel is one before Linux 6.9 for as long as this lives.
class no_signals_to_groups {
public:
    no_signals_to_groups() {
        kernel::fail(kernel::call::pidfd_signal_group, EINVAL, 0, UINT32_MAX);
    }
    no_signals_to_groups(const no_signals_to_groups&) = delete;
    no_signals_to_groups& operator=(const no_signals_to_groups&) = delete;
    ~no_signals_to_groups() { kernel::fail(kernel::call::pidfd_signal_group, 0, 0, 0); }
};

enum class life : std::uint8_t { runs, has_ended, is_reaped };

life life_of(pid_t pid) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return life::is_reaped;
    }
    return info.si_pid == pid ? life::has_ended : life::runs;
}

/// The group of a child is killed at the end of the last handle, by its number. Where the kernel
/// denies that, the child itself is killed all the same.
void end_with_the_handle(eddy::loop& loop, attempt& a) {
    const no_signals_to_groups older;
    pid_t pid = -1;
    a.guard([&] {
        const process child(loop, {.program = "/bin/sleep",
                                   .arguments = {"1000"},
                                   .process_group = 0,
                                   .kill_group_on_destroy = true});
        pid = child.pid();
    });
    if (pid == -1) {
        return;
    }
    const time_point start = clock::now();
    while (life_of(pid) == life::runs && clock::now() < start + patience) {
        std::this_thread::sleep_for(100us);
    }
    a.succeed(life_of(pid) != life::runs);
    // The loop reaps it in the background. Where it cannot, the next spawn does.
    while (life_of(pid) == life::has_ended && clock::now() < start + 10ms) {
        a.guard([&] { loop.run_for(1ms); });
    }
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | __WALL) == 0) {}
}

constexpr loop_scenario tried{.run = &end_with_the_handle, .tcp = false};
EDDY_SCENARIO(ProcessGroups, tried);

}  // namespace

}  // namespace eddy::test::process_groups
