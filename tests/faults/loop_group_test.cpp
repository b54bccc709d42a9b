// SPDX-License-Identifier: Apache-2.0
#include "faults/with_every_fault.hpp"

#include <eddy/loop/loop_group.hpp>

#include <atomic>
#include <cstddef>

namespace eddy::test::loop_group_faults {

namespace {

constexpr std::size_t loops = 2;

/// Each loop of a group runs a post on a core of its own, and all of them end.
void run(eddy::loop& outside, attempt& a) {
    a.guard([&] {
        std::atomic<std::size_t> ran{0};
        loop_group group({.size = loops,
                          .loop = {.engine = outside.engine(), .wait_retry = 20ms},
                          .pin_to_cores = true});
        for (std::size_t i = 0; i != group.size(); ++i) {
            group.at(i).post([&] { ++ran; });
        }
        group.start();
        group.stop();
        group.join();
        a.succeed(ran == loops);
    });
}

constexpr loop_scenario tried{&run};
EDDY_SCENARIO(LoopGroup, tried);

}  // namespace

}  // namespace eddy::test::loop_group_faults
