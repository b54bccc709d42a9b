#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::exec_read_env {

static_assert(sends_in<decltype(ex::read_env(ex::get_stop_token)), stoppable_env,
                       ex::set_value_t(ex::inplace_stop_token)>);
static_assert(
    sends<decltype(ex::read_env(ex::get_stop_token)), ex::set_value_t(ex::never_stop_token)>);
static_assert(!ex::sender_in<decltype(ex::read_env(ex::get_stop_token))>);

TEST(ExecReadEnv, TheAnswerOfTheReceiversEnvironmentIsSent) {
    ex::inplace_stop_source source;
    bool equal = false;
    run(ex::read_env(ex::get_stop_token) |
            ex::then([&](auto token) { equal = token == source.get_token(); }),
        stoppable_env{{}, source.get_token()});
    EXPECT_TRUE(equal);
}

}  // namespace eddy::ex_testing::exec_read_env
