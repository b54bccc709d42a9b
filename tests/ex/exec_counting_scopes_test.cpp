// SPDX-License-Identifier: Apache-2.0
#include "joiner.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace eddy::ex_testing::exec_counting_scopes {

static_assert(ex::scope_token<decltype(std::declval<ex::simple_counting_scope&>().get_token())>);
static_assert(ex::scope_token<decltype(std::declval<ex::counting_scope&>().get_token())>);
static_assert(!ex::scope_token<int>);

template <class Scope>
class ExecCountingScopes : public ::testing::Test {};
using scopes = ::testing::Types<ex::simple_counting_scope, ex::counting_scope>;
TYPED_TEST_SUITE(ExecCountingScopes, scopes);

TYPED_TEST(ExecCountingScopes, AnUnusedOneNeedsNoJoin) {
    TypeParam scope;
    TypeParam closed;
    closed.close();
    EXPECT_FALSE(closed.get_token().try_associate());
}

TYPED_TEST(ExecCountingScopes, JoinWaitsForTheLastAssociation) {
    TypeParam scope;
    auto first = scope.get_token().try_associate();
    auto second = first.try_associate();
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
    joiner join(scope);
    first = {};
    EXPECT_FALSE(join.joined);
    second = {};
    EXPECT_TRUE(join.joined);
}

TYPED_TEST(ExecCountingScopes, WithNothingLeftJoinCompletesAtOnce) {
    TypeParam scope;
    { auto association = scope.get_token().try_associate(); }
    joiner join(scope);
    EXPECT_TRUE(join.joined);
    joiner again(scope);
    EXPECT_TRUE(again.joined);
    EXPECT_FALSE(scope.get_token().try_associate()) << "what is joined is closed";
}

TYPED_TEST(ExecCountingScopes, SeveralMayJoin) {
    TypeParam scope;
    auto association = scope.get_token().try_associate();
    joiner first(scope);
    joiner second(scope);
    association = {};
    EXPECT_TRUE(first.joined);
    EXPECT_TRUE(second.joined);
}

TYPED_TEST(ExecCountingScopes, AClosedOneRefuses) {
    TypeParam scope;
    auto association = scope.get_token().try_associate();
    scope.close();
    EXPECT_FALSE(scope.get_token().try_associate());
    EXPECT_FALSE(association.try_associate());
    association = {};
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TYPED_TEST(ExecCountingScopes, ThreadsComeAndGoWhileOneJoins) {
    for (int round = 0; round < 200; ++round) {
        TypeParam scope;
        auto keep = scope.get_token().try_associate();
        std::thread other([token = scope.get_token(), kept = std::move(keep)]() mutable {
            for (int i = 0; i < 10; ++i) {
                auto association = token.try_associate();
                auto copy = association.try_associate();
            }
            kept = {};
        });
        EXPECT_TRUE(ex::sync_wait(scope.join()));
        other.join();
    }
}

}  // namespace eddy::ex_testing::exec_counting_scopes
