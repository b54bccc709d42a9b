// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eddy::ex_testing::exec_unstoppable {

TEST(ExecUnstoppable, StopRequestsAreHidden) {
    ex::inplace_stop_source source;
    source.request_stop();
    const stoppable_env env{{}, source.get_token()};
    const auto ask = ex::read_env(ex::get_stop_token) |
                     ex::then([](auto token) { return token.stop_requested() ? 1 : 0; });
    EXPECT_EQ(run(ask, env).numbers, std::vector{1});
    EXPECT_EQ(run(ask | ex::unstoppable, env).numbers, std::vector{0});
    EXPECT_EQ(run(ex::unstoppable(ask), env).numbers, std::vector{0});
}

}  // namespace eddy::ex_testing::exec_unstoppable
