#include "queries.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace eddy::ex_testing::exec_queries {

static_assert(ex::forwarding_query(get_name));
static_assert(!ex::forwarding_query(get_secret));
static_assert(ex::forwarding_query(ex::get_stop_token));
static_assert(ex::forwarding_query(ex::get_scheduler));
static_assert(ex::forwarding_query(ex::get_allocator));
static_assert(ex::forwarding_query(ex::get_completion_scheduler<ex::set_value_t>));

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
