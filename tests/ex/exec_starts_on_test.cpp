// SPDX-License-Identifier: Apache-2.0
#include "other_thread.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::exec_starts_on {

TEST(ExecStartsOn, TheSenderRunsThere) {
    other_thread thread;
    auto [id] =
        ex::sync_wait(ex::starts_on(thread.get_scheduler(), ex::just() | ex::then(here))).value();
    EXPECT_EQ(id, thread.id());
}

TEST(ExecStartsOn, TheSenderIsToldWhereItWasStarted) {
    other_thread thread;
    auto [there] =
        ex::sync_wait(ex::starts_on(thread.get_scheduler(), ex::read_env(ex::get_start_scheduler)) |
                      ex::then([&](auto s) { return s == thread.get_scheduler(); }))
            .value();
    EXPECT_TRUE(there);
}

}  // namespace eddy::ex_testing::exec_starts_on
