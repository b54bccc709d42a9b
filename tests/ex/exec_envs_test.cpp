#include "queries.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

namespace eddy::ex_testing::exec_envs {

TEST(ExecEnvs, APropAnswersItsQuery) {
    const ex::prop named{get_name, 7};
    EXPECT_EQ(get_name(named), 7);
    static_assert(!std::is_invocable_v<get_secret_t, decltype(named)>);
}

TEST(ExecEnvs, TheFirstEnvironmentThatKnowsAnswers) {
    const ex::env both{ex::prop{get_name, 1}, ex::prop{get_secret, 2}, ex::prop{get_name, 3}};
    EXPECT_EQ(get_name(both), 1);
    EXPECT_EQ(get_secret(both), 2);
}

TEST(ExecEnvs, AReferenceWrapperIsStoredAsAReference) {
    int number = 1;
    const ex::prop named{get_name, std::ref(number)};
    number = 5;
    EXPECT_EQ(get_name(named), 5);
}

TEST(ExecEnvs, WithoutAMemberTheEnvironmentIsEmpty) {
    struct nothing {};
    static_assert(std::is_same_v<ex::env_of_t<nothing>, ex::env<>>);
    static_assert(std::is_same_v<decltype(ex::get_stop_token(ex::env<>{})), ex::never_stop_token>);
}

}  // namespace eddy::ex_testing::exec_envs
