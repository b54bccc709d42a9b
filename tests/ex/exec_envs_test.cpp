// SPDX-License-Identifier: Apache-2.0
#include "queries.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

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

template <class Env>
inline constexpr bool is_fixed =
    std::is_copy_constructible_v<Env> && std::is_nothrow_move_constructible_v<Env> &&
    !std::is_copy_assignable_v<Env> && !std::is_move_assignable_v<Env>;
using named = ex::prop<get_name_t, int>;
// Those of stdexec can be assigned.
#if EDDY_EX_BUILTIN
static_assert(is_fixed<named>);
static_assert(is_fixed<ex::env<named>>);
static_assert(is_fixed<ex::env<named, ex::prop<get_secret_t, int>>>);
static_assert(is_fixed<ex::env<>>);
#endif
static_assert(sizeof(named) == sizeof(int), "that takes no room");
static_assert(sizeof(ex::env<named, ex::prop<get_secret_t, int>>) == 2 * sizeof(int));

TEST(ExecEnvs, APropHoldsWhatCanOnlyBeMoved) {
    ex::prop owner{get_name, std::make_unique<int>(4)};
    const ex::env both{std::move(owner), ex::prop{get_secret, 2}};
    EXPECT_EQ(*get_name(both), 4);
}

TEST(ExecEnvs, WithoutAMemberTheEnvironmentIsEmpty) {
    struct nothing {};
    static_assert(std::is_same_v<ex::env_of_t<nothing>, ex::env<>>);
    static_assert(std::is_same_v<decltype(ex::get_stop_token(ex::env<>{})), ex::never_stop_token>);
}

}  // namespace eddy::ex_testing::exec_envs
