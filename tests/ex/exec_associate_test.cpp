// SPDX-License-Identifier: Apache-2.0
#include "joiner.hpp"
#include "support.hpp"
#include "telltale.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_associate {

TEST(ExecAssociate, TheScopeWaitsForTheSenderAndItsOperation) {
    ex::simple_counting_scope scope;
    std::optional sender(ex::associate(ex::just(4), scope.get_token()));
    static_assert(sends<decltype(ex::associate(ex::just(4), scope.get_token())),
                        ex::set_value_t(int), ex::set_stopped_t()>);
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    {
        outcome seen;
        auto operation = ex::connect(std::move(*sender), probe<>{&seen});
        sender.reset();
        EXPECT_FALSE(join.joined);
        ex::start(operation);
        EXPECT_EQ(seen.numbers, std::vector{4});
    }
    EXPECT_TRUE(join.joined);
}

TEST(ExecAssociate, UnderAClosedScopeItIsStopped) {
    ex::simple_counting_scope scope;
    scope.close();
    EXPECT_EQ(run(ex::just(4) | ex::associate(scope.get_token())).channel, "stopped");
}

TEST(ExecAssociate, ItIsStoppedWithItsScope) {
    ex::counting_scope scope;
    manual_event event;
    outcome seen;
    {
        auto operation =
            ex::connect(event.wait() | ex::associate(scope.get_token()), probe<>{&seen});
        ex::start(operation);
        scope.request_stop();
    }
    EXPECT_EQ(seen.channel, "stopped");
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

// stdexec takes only rvalues.
#if EDDY_EX_BUILTIN
TEST(ExecAssociate, ATokenMayBeAnLvalue) {
    ex::simple_counting_scope scope;
    const auto token = scope.get_token();
    auto other = token;
    {
        EXPECT_EQ(run(ex::associate(ex::just(4), token)).numbers, std::vector{4});
        EXPECT_EQ(run(ex::just(5) | ex::associate(other)).numbers, std::vector{5});
    }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}
#endif

TEST(ExecAssociate, AnLvalueIsConnectedByCopyAndCountsOnceMore) {
    ex::simple_counting_scope scope;
    std::optional sender(ex::associate(ex::just(4), scope.get_token()));
    std::optional<joiner<ex::simple_counting_scope>> join;
    {
        outcome seen;
        auto first = ex::connect(*sender, probe<>{&seen});
        auto second = ex::connect(std::as_const(*sender), probe<>{&seen});
        sender.reset();
        join.emplace(scope);
        ex::start(first);
        ex::start(second);
        EXPECT_EQ(seen.numbers, (std::vector{4, 4}));
        EXPECT_FALSE(join->joined);
    }
    EXPECT_TRUE(join->joined);
}

TEST(ExecAssociate, ACopyMadeUnderAClosedScopeIsStopped) {
    ex::simple_counting_scope scope;
    {
        auto sender = ex::associate(ex::just(4), scope.get_token());
        scope.close();
        EXPECT_EQ(run(sender).channel, "stopped");
        EXPECT_EQ(run(std::move(sender)).numbers, std::vector{4}) << "that has its association";
    }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TEST(ExecAssociate, TheChildIsConnectedAsAnRvalueAndCopiedAsAConstLvalue) {
    ex::simple_counting_scope scope;
    {
        auto sender = ex::associate(telltale(), scope.get_token());
        EXPECT_EQ(run(sender).numbers, std::vector{21});
        EXPECT_EQ(run(std::as_const(sender)).numbers, std::vector{21});
        EXPECT_EQ(run(std::move(sender)).numbers, std::vector{1});
    }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

/// Stays what it was when it is moved from.
struct copied {
    explicit copied(std::shared_ptr<int> p) : pointer(std::move(p)) {}
    copied(const copied&) = default;
    std::shared_ptr<int> pointer;
};

TEST(ExecAssociate, WhatWasTakenOutOfASenderDoesNotOutliveTheAssociation) {
    ex::simple_counting_scope scope;
    const auto held = std::make_shared<int>(1);
    {
        auto first = ex::associate(ex::just(copied(held)), scope.get_token());
        auto second = std::move(first);
        EXPECT_EQ(held.use_count(), 2) << "by the second sender";
        outcome seen;
        auto operation = ex::connect(std::move(second), probe<>{&seen});
        EXPECT_EQ(held.use_count(), 2) << "by the operation";
    }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

template <class Sender>
using associated = decltype(ex::associate(std::declval<Sender>(),
                                          std::declval<ex::simple_counting_scope&>().get_token()));
template <class Sender>
inline constexpr bool connects_without_throwing =
    noexcept(ex::connect(std::declval<Sender>(), std::declval<probe<>>()));
using number = associated<decltype(ex::just(1))>;
using breakable = associated<decltype(ex::just(fragile(1, 1)))>;
static_assert(std::is_nothrow_move_constructible_v<number>);
static_assert(std::is_nothrow_copy_constructible_v<number>);
static_assert(!std::is_nothrow_move_constructible_v<breakable>);
static_assert(!std::is_nothrow_copy_constructible_v<breakable>);
static_assert(connects_without_throwing<number>);
static_assert(connects_without_throwing<number&>);
static_assert(!connects_without_throwing<breakable>);
static_assert(
    !std::is_copy_constructible_v<associated<decltype(ex::just(std::unique_ptr<int>()))>>);

}  // namespace eddy::ex_testing::exec_associate
