// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <execution>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_bulk {

using exception = ex::set_error_t(std::exception_ptr);
constexpr auto seq = std::execution::seq;
constexpr auto quiet = [](int, int&) noexcept {};
constexpr auto loud = [](int, int&) {};
constexpr auto quiet_range = [](int, int, int&) noexcept {};

static_assert(sends<decltype(ex::just(1) | ex::bulk(seq, 2, quiet)), ex::set_value_t(int)>);
static_assert(
    sends<decltype(ex::just(1) | ex::bulk(seq, 2, loud)), ex::set_value_t(int), exception>);
static_assert(
    sends<decltype(ex::just(1) | ex::bulk_unchunked(seq, 2, quiet)), ex::set_value_t(int)>);
static_assert(
    sends<decltype(ex::just(1) | ex::bulk_chunked(seq, 2, quiet_range)), ex::set_value_t(int)>);
static_assert(sends<decltype(ex::just_stopped() | ex::bulk(seq, 2, quiet)), ex::set_stopped_t()>);

using number = decltype(ex::just(1));
static_assert(
    std::is_invocable_v<ex::bulk_t, number, decltype(std::execution::par), int, decltype(quiet)>);
static_assert(!std::is_invocable_v<ex::bulk_t, number, int, int, decltype(quiet)>,
              "the policy is missing");
static_assert(
    !std::is_invocable_v<ex::bulk_t, number, decltype(seq), std::nullptr_t, decltype(quiet)>);
static_assert(!std::is_invocable_v<ex::bulk_t, int, decltype(seq), int, decltype(quiet)>);

TEST(ExecBulk, TheFunctionIsCalledForEachIndexWithTheValues) {
    const auto fill = [](std::size_t index, std::vector<int>& numbers) {
        numbers[index] += static_cast<int>(index) + 1;
    };
    const auto first_three = [](std::vector<int> numbers) {
        return numbers == std::vector{1, 2, 3} ? 1 : 0;
    };
    const auto zeros = ex::just(std::vector<int>(3));
    EXPECT_EQ(run(zeros | ex::bulk(seq, std::size_t{3}, fill) | ex::then(first_three)).numbers,
              std::vector{1});
    EXPECT_EQ(
        run(zeros | ex::bulk_unchunked(seq, std::size_t{3}, fill) | ex::then(first_three)).numbers,
        std::vector{1});
    EXPECT_EQ(run(ex::bulk(zeros, std::execution::par_unseq, std::size_t{3}, fill) |
                  ex::then(first_three))
                  .numbers,
              std::vector{1});
}

TEST(ExecBulk, RangesTogetherAreTheShape) {
    std::vector<int> calls(10);
    const auto note = [&](int begin, int end) {
        ASSERT_LT(begin, end);
        for (; begin != end; ++begin) ++calls.at(static_cast<std::size_t>(begin));
    };
    EXPECT_EQ(run(ex::just() | ex::bulk_chunked(seq, 10, note)).channel, "value");
    EXPECT_EQ(calls, std::vector<int>(10, 1));
}

TEST(ExecBulk, AnEmptyShapeCallsNothing) {
    const auto never = [](auto...) { ADD_FAILURE(); };
    EXPECT_EQ(run(ex::just() | ex::bulk(seq, 0, never)).channel, "value");
    EXPECT_EQ(run(ex::just() | ex::bulk_unchunked(seq, 0, never)).channel, "value");
    EXPECT_EQ(run(ex::just() | ex::bulk_chunked(seq, 0, never)).channel, "value");
}

TEST(ExecBulk, OtherChannelsPassUntouched) {
    const auto never = [](auto&&...) { ADD_FAILURE(); };
    EXPECT_EQ(run(ex::just_error(7) | ex::bulk(seq, 2, never)).numbers, std::vector{7});
    EXPECT_EQ(run(ex::just_stopped() | ex::bulk_chunked(seq, 2, never)).channel, "stopped");
}

TEST(ExecBulk, WhatTheFunctionThrowsIsTheErrorAndEndsIt) {
    int calls = 0;
    const auto fail_second = [&](int index) {
        ++calls;
        if (index == 1) throw std::runtime_error("no");
    };
    EXPECT_EQ(run(ex::just() | ex::bulk(seq, 5, fail_second)).channel, "error");
    EXPECT_EQ(calls, 2);
    const auto fail = [](int, int) { throw std::runtime_error("no"); };
    EXPECT_THROW(ex::sync_wait(ex::just() | ex::bulk_chunked(seq, 5, fail)), std::runtime_error);
}

// stdexec passes on what the child says.
#if EDDY_EX_BUILTIN
TEST(ExecBulk, CompletesWhereItsChildDoes) {
    ex::run_loop loop;
    const auto scheduled = ex::schedule(loop.get_scheduler());
    const auto place = [](const auto& sender, auto query) {
        return query(ex::get_env(sender), ex::env<>{});
    };
    const auto quiet_sender = scheduled | ex::bulk(seq, 2, [](int) noexcept {});
    const auto loud_sender = scheduled | ex::bulk(seq, 2, [](int) {});
    const auto values = ex::get_completion_scheduler<ex::set_value_t>;
    const auto errors = ex::get_completion_scheduler<ex::set_error_t>;
    EXPECT_TRUE(place(quiet_sender, values) == loop.get_scheduler());
    EXPECT_TRUE(place(loud_sender, errors) == loop.get_scheduler());
    static_assert(
        !std::is_invocable_v<decltype(errors), ex::env_of_t<decltype(quiet_sender)>, ex::env<>>);
}
#endif

TEST(ExecBulk, ValuesOnlyMovedArePassedOn) {
    auto sender = ex::just(std::make_unique<int>(3)) |
                  ex::bulk(seq, 2, [](int, std::unique_ptr<int>& pointer) { ++*pointer; }) |
                  ex::then([](std::unique_ptr<int> pointer) { return *pointer; });
    EXPECT_EQ(run(std::move(sender)).numbers, std::vector{5});
}

}  // namespace eddy::ex_testing::exec_bulk
