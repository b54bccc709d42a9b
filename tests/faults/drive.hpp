// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults/attempt.hpp"

#include <eddy/loop/timer.hpp>

#include <utility>

namespace eddy::test {

/// Runs the loop until `done()`. At the limit, or if the loop cannot run, it calls `cancel()`,
/// which must lead to the same.
template <class Done, class Cancel>
void drive(loop& on, attempt& a, Done done, Cancel cancel) {
    timer watchdog(on, [](timer&) noexcept {});
    a.guard([&] {
        on.post_after(a.limit(), watchdog);
        on.poll();  // so that the timer is armed
        while (!done() && watchdog.armed()) {
            on.run_some();
        }
    });
    on.disarm(watchdog);
    if (done()) {
        return;
    }
    if (a.errors().empty()) {
        a.give_up();
    }
    cancel();
    for (int turns = 0; !done() && turns != 1000; ++turns) {
        a.guard([&] { on.poll(); });
    }
}

}  // namespace eddy::test
