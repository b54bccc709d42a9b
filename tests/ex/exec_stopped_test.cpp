#include "support.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace eddy::ex_testing::exec_stopped {

static_assert(sends<decltype(manual_event().wait() | ex::stopped_as_optional()),
                    ex::set_value_t(std::optional<int>), ex::set_error_t(std::error_code)>);
static_assert(sends<decltype(manual_event().wait() | ex::stopped_as_error(std::error_code())),
                    ex::set_value_t(int), ex::set_error_t(std::error_code)>);

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

TEST(ExecStoppedErr, AStopIsTheGivenError) {
    EXPECT_EQ(run(ex::just_stopped() | ex::stopped_as_error(4)).numbers, std::vector{4});
    EXPECT_EQ(run(ex::just_stopped() | ex::stopped_as_error(4)).channel, "error");
    EXPECT_EQ(run(ex::just(5) | ex::stopped_as_error(4)).channel, "value");
}

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

}  // namespace eddy::ex_testing::exec_stopped
