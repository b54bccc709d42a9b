// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::exec_inline_scheduler {

static_assert(ex::scheduler<ex::inline_scheduler>);
static_assert(sends<ex::schedule_result_t<ex::inline_scheduler>, ex::set_value_t()>);

TEST(ExecInlineScheduler, CompletesInsideStart) {
    EXPECT_EQ(run(ex::schedule(ex::inline_scheduler{})).channel, "value");
    EXPECT_TRUE(ex::inline_scheduler{} == ex::inline_scheduler{});
}

}  // namespace eddy::ex_testing::exec_inline_scheduler
