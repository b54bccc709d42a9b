// SPDX-License-Identifier: Apache-2.0
#include "queries.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eddy::ex_testing::exec_write_env {

TEST(ExecWriteEnv, TheGivenEnvironmentAnswersFirst) {
    const auto read = ex::read_env(get_name);
    const ex::prop outer{get_name, 1};
    EXPECT_EQ(run(read, outer).numbers, std::vector{1});
    EXPECT_EQ(run(ex::write_env(read, ex::prop{get_name, 2}), outer).numbers, std::vector{2});
    EXPECT_EQ(run(read | ex::write_env(ex::prop{get_name, 3}), outer).numbers, std::vector{3});
}

TEST(ExecWriteEnv, TheReceiversEnvironmentAnswersTheRest) {
    ex::inplace_stop_source source;
    const auto sender =
        ex::write_env(ex::read_env(get_name), ex::prop{ex::get_stop_token, source.get_token()});
    EXPECT_EQ(run(sender, ex::prop{get_name, 5}).numbers, std::vector{5});
}

}  // namespace eddy::ex_testing::exec_write_env
