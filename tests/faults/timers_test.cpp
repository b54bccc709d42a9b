// SPDX-License-Identifier: Apache-2.0
#include "faults/drive.hpp"
#include "faults/with_every_fault.hpp"
#include "loop/work.hpp"

namespace eddy::test::timers {

namespace {

/// Timers of both clocks expire, and a post runs.
void expire(eddy::loop& loop, attempt& a) {
    a.guard([&] {
        alarm steady(loop);
        alarm system(loop, {}, {}, timer_clock::system);
        bool posted = false;
        bool ended = false;
        loop.post([&] { posted = true; });
        loop.post_after(std::chrono::microseconds(200), steady);
        loop.post_at(std::chrono::system_clock::now() + std::chrono::microseconds(200), system);
        drive(
            loop, a, [&] { return ended || (steady.runs != 0 && system.runs != 0 && posted); },
            [&] {
                loop.disarm(steady);
                loop.disarm(system);
                ended = true;
            });
        a.succeed(steady.runs == 1 && system.runs == 1 && posted);
    });
}

constexpr loop_scenario tried{.run = &expire, .records = true};
EDDY_SCENARIO(Timers, tried);

}  // namespace

}  // namespace eddy::test::timers
