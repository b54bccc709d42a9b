// SPDX-License-Identifier: Apache-2.0
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

/// Can be asked only while it is not const.
struct get_shy_t {
    constexpr bool query(ex::forwarding_query_t) noexcept { return true; }
};
// stdexec looks at query objects as const ones.
#if EDDY_EX_BUILTIN
static_assert(ex::forwarding_query(get_shy_t{}));
static_assert([] {
    get_shy_t query;
    return ex::forwarding_query(query);
}());
#endif
struct get_derived_t : ex::forwarding_query_t {};
static_assert(ex::forwarding_query(get_derived_t{}));

/// Gives an object of its own, so that a test can tell it from a copy.
template <class Query, class Answer>
struct holder {
    Answer answer;
    const Answer& query(Query) const noexcept { return answer; }
};
template <class Query, class Answer>
using answer_t = decltype(Query{}(std::declval<const holder<Query, Answer>&>()));
using run_loop_scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());

template <class Query, class Answer>
inline constexpr bool is_passed_on = std::is_same_v<answer_t<Query, Answer>, const Answer&>;
static_assert(is_passed_on<ex::get_allocator_t, std::allocator<int>>);
static_assert(is_passed_on<ex::get_start_scheduler_t, run_loop_scheduler>);
static_assert(is_passed_on<ex::get_delegation_scheduler_t, run_loop_scheduler>);
static_assert(is_passed_on<ex::get_scheduler_t, run_loop_scheduler>);
// stdexec copies stop tokens.
#if EDDY_EX_BUILTIN
static_assert(is_passed_on<ex::get_stop_token_t, ex::inplace_stop_token>);
#endif

TEST(ExecQueries, TheAnswerIsTheObjectOfTheEnvironment) {
    const holder<ex::get_allocator_t, std::allocator<int>> env{};
    EXPECT_EQ(&ex::get_allocator(env), &env.answer);
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

/// Says nothing about the progress that it makes.
struct silent_scheduler {
    using scheduler_concept = ex::scheduler_tag;
    auto schedule() const noexcept { return ex::just(); }
    bool operator==(const silent_scheduler&) const = default;
};
struct not_a_scheduler {
    static constexpr auto query(ex::get_forward_progress_guarantee_t) noexcept {
        return ex::forward_progress_guarantee::parallel;
    }
};

TEST(ExecQueries, ForwardProgressIsWhatTheSchedulerSaysAndNothingIsAssumed) {
    ex::run_loop loop;
    EXPECT_EQ(ex::get_forward_progress_guarantee(loop.get_scheduler()),
              ex::forward_progress_guarantee::parallel);
// stdexec assumes the weakest.
#if EDDY_EX_BUILTIN
    using query = ex::get_forward_progress_guarantee_t;
    static_assert(!std::is_invocable_v<query, silent_scheduler>);
    static_assert(!std::is_invocable_v<query, not_a_scheduler>);
    static_assert(!ex::scheduler<silent_scheduler>);
#endif
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
