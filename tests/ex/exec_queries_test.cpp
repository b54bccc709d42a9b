#include "support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace eddy::ex_testing::exec_queries {

struct get_name_t {
    static constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_name_t get_name{};

struct get_secret_t {
    template <class Env>
    auto operator()(const Env& env) const noexcept -> decltype(env.query(*this)) {
        return env.query(*this);
    }
};
inline constexpr get_secret_t get_secret{};

static_assert(ex::forwarding_query(get_name));
static_assert(!ex::forwarding_query(get_secret));
static_assert(ex::forwarding_query(ex::get_stop_token));
static_assert(ex::forwarding_query(ex::get_scheduler));
static_assert(ex::forwarding_query(ex::get_allocator));
static_assert(ex::forwarding_query(ex::get_completion_scheduler<ex::set_value_t>));

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

TEST(ExecQueries, TheStopTokenOfTheEnvironmentIsFound) {
    ex::inplace_stop_source source;
    const ex::prop env{ex::get_stop_token, source.get_token()};
    static_assert(std::is_same_v<ex::stop_token_of_t<decltype(env)>, ex::inplace_stop_token>);
    EXPECT_EQ(ex::get_stop_token(env), source.get_token());
}

TEST(ExecQueries, AllocatorAndSchedulersAreFound) {
    ex::run_loop loop;
    const ex::env env{ex::prop{ex::get_allocator, std::allocator<int>{}},
                      ex::prop{ex::get_start_scheduler, loop.get_scheduler()}};
    static_assert(
        std::is_same_v<std::decay_t<decltype(ex::get_allocator(env))>, std::allocator<int>>);
    EXPECT_TRUE(ex::get_start_scheduler(env) == loop.get_scheduler());
    EXPECT_TRUE(ex::get_scheduler(env) == loop.get_scheduler());
    static_assert(!std::is_invocable_v<ex::get_scheduler_t, ex::env<>>);
    static_assert(!std::is_invocable_v<ex::get_delegation_scheduler_t, decltype(env)>);
    static_assert(!std::is_invocable_v<ex::get_allocator_t, ex::env<>>);
}

TEST(ExecQueries, ForwardProgressIsWeakUnlessTheSchedulerSaysMore) {
    ex::run_loop loop;
    EXPECT_EQ(ex::get_forward_progress_guarantee(loop.get_scheduler()),
              ex::forward_progress_guarantee::parallel);
    struct modest {};
    EXPECT_EQ(ex::get_forward_progress_guarantee(modest{}),
              ex::forward_progress_guarantee::weakly_parallel);
}

TEST(ExecQueries, AdaptorsPassForwardingQueriesOnBothWays) {
    const auto sender = ex::read_env(get_name) | ex::then([](int number) { return number + 1; });
    EXPECT_EQ(run(sender, ex::prop{get_name, 4}).numbers, std::vector{5});

    ex::run_loop loop;
    const auto scheduled = ex::schedule(loop.get_scheduler()) | ex::then([] {});
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(scheduled)) ==
                loop.get_scheduler());
}

}  // namespace eddy::ex_testing::exec_queries
