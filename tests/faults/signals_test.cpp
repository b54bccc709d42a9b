// SPDX-License-Identifier: Apache-2.0
#include "support/signals.hpp"
#include "faults/with_every_fault.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io.hpp>

#include <csignal>

#include <unistd.h>

namespace eddy::test::signals {

namespace {

/// Two signals come, one before and one while somebody waits.
void come(eddy::loop& loop, attempt& a) {
    const blocked_signals blocked(signal_set{SIGUSR1, SIGUSR2});
    ::kill(::getpid(), SIGUSR1);
    a.guard([&] {
        signal_source source(loop, {SIGUSR1, SIGUSR2});
        const auto work = [&]() -> task<bool> {
            const signal_info first = co_await wait_signal(source, SIGUSR1);
            ::kill(::getpid(), SIGUSR2);
            const signal_info second =
                co_await wait_any_signal(source, signal_set{SIGUSR1, SIGUSR2});
            co_return first.signum == SIGUSR1&& second.signum == SIGUSR2;
        };
        a.run(loop, work());
    });
    // What nobody has taken must not come when the signals are not blocked any more.
    const timespec at_once{};
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigaddset(&mask, SIGUSR2);
    while (::sigtimedwait(&mask, nullptr, &at_once) > 0) {}
}

constexpr kernel::call told[] = {kernel::call::sigmask, kernel::call::epoll_ctl};
constexpr loop_scenario tried{.run = &come, .records = true, .tells = told};
EDDY_SCENARIO(Signals, tried);

}  // namespace

}  // namespace eddy::test::signals
