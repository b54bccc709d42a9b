// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <system_error>
#include <vector>

namespace eddy::ex_testing::exec_stopped_err {

static_assert(sends<decltype(manual_event().wait() | ex::stopped_as_error(std::error_code())),
                    ex::set_value_t(int), ex::set_error_t(std::error_code)>);

TEST(ExecStoppedErr, AStopIsTheGivenError) {
    EXPECT_EQ(run(ex::just_stopped() | ex::stopped_as_error(4)).numbers, std::vector{4});
    EXPECT_EQ(run(ex::just_stopped() | ex::stopped_as_error(4)).channel, "error");
    EXPECT_EQ(run(ex::just(5) | ex::stopped_as_error(4)).channel, "value");
}

}  // namespace eddy::ex_testing::exec_stopped_err
