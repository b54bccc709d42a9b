// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eddy::ex_testing::exec_schedule_from {

static_assert(sends<decltype(ex::schedule_from(manual_event().wait())), ex::set_value_t(int),
                    ex::set_error_t(std::error_code), ex::set_stopped_t()>);

TEST(ExecScheduleFrom, PassesEverythingOn) {
    EXPECT_EQ(run(ex::schedule_from(ex::just(1, 2))).numbers, (std::vector{1, 2}));
    EXPECT_EQ(run(ex::schedule_from(ex::just_error(3))).numbers, std::vector{3});
    EXPECT_EQ(run(ex::schedule_from(ex::just_stopped())).channel, "stopped");
}

TEST(ExecScheduleFrom, CompletesWhereItsChildDoes) {
    ex::run_loop loop;
    const auto sender = ex::schedule_from(ex::schedule(loop.get_scheduler()));
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)) ==
                loop.get_scheduler());
}

}  // namespace eddy::ex_testing::exec_schedule_from
