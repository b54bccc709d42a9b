// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace eddy::ex_testing::exec_then {

constexpr auto quiet = [](int number) noexcept { return number + 1; };
constexpr auto loud = [](int number) { return number + 1; };
using exception = ex::set_error_t(std::exception_ptr);

static_assert(sends<decltype(ex::just(1) | ex::then(quiet)), ex::set_value_t(int)>);
static_assert(sends<decltype(ex::just(1) | ex::then(loud)), ex::set_value_t(int), exception>);
static_assert(sends<decltype(ex::just(1) | ex::then([](int) noexcept {})), ex::set_value_t()>);
static_assert(
    sends<decltype(ex::just_error(1) | ex::then([](int) noexcept {})), ex::set_error_t(int)>,
    "what cannot happen is not sent");
static_assert(sends<decltype(ex::just_error(1) | ex::upon_error(quiet)), ex::set_value_t(int)>);
static_assert(sends<decltype(ex::just_stopped() | ex::upon_stopped([]() noexcept { return 1; })),
                    ex::set_value_t(int)>);
static_assert(sends<decltype(manual_event().wait() | ex::then(quiet)), ex::set_value_t(int),
                    ex::set_error_t(std::error_code), ex::set_stopped_t()>);
static_assert(sends<decltype(manual_event().wait() | ex::upon_stopped([]() noexcept { return 1; })),
                    ex::set_value_t(int), ex::set_error_t(std::error_code)>);

TEST(ExecThen, TheFunctionsResultIsTheValue) {
    EXPECT_EQ(run(ex::just(1) | ex::then(quiet) | ex::then(loud)).numbers, std::vector{3});
    EXPECT_EQ(run(ex::then(ex::just(1), quiet)).numbers, std::vector{2});
    EXPECT_EQ(run(ex::just_error(5) | ex::upon_error(loud)).numbers, std::vector{6});
    EXPECT_EQ(run(ex::just_stopped() | ex::upon_stopped([] { return 9; })).numbers, std::vector{9});
}

TEST(ExecThen, OtherChannelsPassUntouched) {
    const auto never = [](auto&&...) -> int {
        ADD_FAILURE();
        return 0;
    };
    EXPECT_EQ(run(ex::just_error(7) | ex::then(never)).numbers, std::vector{7});
    EXPECT_EQ(run(ex::just_stopped() | ex::then(never)).channel, "stopped");
    EXPECT_EQ(run(ex::just(1) | ex::upon_error(never)).numbers, std::vector{1});
    EXPECT_EQ(run(ex::just(1) | ex::upon_stopped(never)).numbers, std::vector{1});
}

TEST(ExecThen, WhatTheFunctionThrowsIsTheError) {
    const auto fail = [](int) -> int { throw std::runtime_error("no"); };
    EXPECT_EQ(run(ex::just(1) | ex::then(fail)).channel, "error");
    EXPECT_THROW(ex::sync_wait(ex::just(1) | ex::then(fail)), std::runtime_error);
    EXPECT_THROW(ex::sync_wait(ex::just_error(1) | ex::upon_error(fail)), std::runtime_error);
}

TEST(ExecThen, ValuesOnlyMovedAndReferencesArePassedOn) {
    int target = 0;
    auto pointer = ex::just(std::make_unique<int>(3)) |
                   ex::then([](std::unique_ptr<int> number) { return *number; }) |
                   ex::then([&](int number) -> int& { return target = number; }) |
                   ex::then([&](int& number) { EXPECT_EQ(&number, &target); });
    EXPECT_EQ(run(std::move(pointer)).channel, "value");
    EXPECT_EQ(target, 3);
}

TEST(ExecThen, MembersAreCalledAsByInvoke) {
    struct point {
        int x;
        int twice() const { return 2 * x; }
    };
    EXPECT_EQ(run(ex::just(point{4}) | ex::then(&point::x)).numbers, std::vector{4});
    EXPECT_EQ(run(ex::just(point{4}) | ex::then(&point::twice)).numbers, std::vector{8});
}

}  // namespace eddy::ex_testing::exec_then
