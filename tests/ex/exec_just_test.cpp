// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace eddy::ex_testing::exec_just {

static_assert(sends<decltype(ex::just()), ex::set_value_t()>);
static_assert(sends<decltype(ex::just(1, std::string())), ex::set_value_t(int, std::string)>);
static_assert(sends<decltype(ex::just_error(1)), ex::set_error_t(int)>);
static_assert(sends<decltype(ex::just_stopped()), ex::set_stopped_t()>);
static_assert(ex::sender_in<decltype(ex::just(1))>, "it does not depend on the environment");

TEST(ExecJust, CompletesInsideStart) {
    EXPECT_EQ(run(ex::just(1, 2)).numbers, (std::vector{1, 2}));
    EXPECT_EQ(run(ex::just_error(std::make_error_code(std::errc::io_error))).code,
              std::errc::io_error);
    EXPECT_EQ(run(ex::just_stopped()).channel, "stopped");
}

TEST(ExecJust, ValuesThatOnlyMoveCanBeSentOnce) {
    auto sender = ex::just(std::make_unique<int>(4));
    static_assert(!ex::sender_to<decltype(sender)&, probe<>>);
    static_assert(ex::sender_to<decltype(sender), probe<>>);
    auto [value] = ex::sync_wait(std::move(sender)).value();
    EXPECT_EQ(*value, 4);
}

TEST(ExecJust, NothingIsAllocated) {
    outcome seen;
    const auto before = allocations();
    auto operation = ex::connect(ex::just(1.0) | ex::then([](double) {}), probe<>{&seen});
    ex::start(operation);
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(seen.channel, "value");
}

}  // namespace eddy::ex_testing::exec_just
