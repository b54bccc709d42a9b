// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace eddy::ex_testing::exec_stopped_opt {

static_assert(sends<decltype(manual_event().wait() | ex::stopped_as_optional()),
                    ex::set_value_t(std::optional<int>), ex::set_error_t(std::error_code)>);

TEST(ExecStoppedOpt, AStopIsAnEmptyOptional) {
    manual_event event;
    std::optional<int> result = 1;
    outcome seen;
    auto operation = ex::connect(
        event.wait() | ex::stopped_as_optional() | ex::then([&](auto value) { result = value; }),
        probe<>{&seen});
    ex::start(operation);
    event.stop();
    EXPECT_EQ(result, std::nullopt);
    EXPECT_EQ(seen.channel, "value");

    auto [value] = ex::sync_wait(ex::just(3) | ex::stopped_as_optional()).value();
    EXPECT_EQ(value, 3);
}

}  // namespace eddy::ex_testing::exec_stopped_opt
