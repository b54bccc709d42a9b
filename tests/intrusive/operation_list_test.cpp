// SPDX-License-Identifier: Apache-2.0
#include "intrusive/test_operation.hpp"
#include "support/random.hpp"

#include <eddy/intrusive/operation_list.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace eddy::test::operation_list_test {
namespace {

using eddy::operation;
using eddy::operation_list;
using eddy::test::number_of;
using eddy::test::test_operation;

std::vector<int> numbers(const operation_list& list) {
    std::vector<int> result;
    for (const operation* op = list.front(); op != nullptr; op = operation_list::next(*op)) {
        result.push_back(number_of(*op));
    }
    return result;
}

class OperationList : public ::testing::Test {
protected:
    OperationList() {
        for (test_operation* op : {&one, &two, &three}) {
            list.push_back(*op);
        }
    }

    test_operation one{1}, two{2}, three{3};
    operation_list list;
};

TEST_F(OperationList, IsFirstInFirstOut) {
    EXPECT_EQ(&list.pop_front(), &one);
    EXPECT_EQ(&list.pop_front(), &two);
    EXPECT_EQ(&list.pop_front(), &three);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.front(), nullptr);
}

TEST_F(OperationList, TakesSomethingAtItsFront) {
    test_operation zero{0};
    list.push_front(zero);
    EXPECT_EQ(numbers(list), (std::vector{0, 1, 2, 3}));
    list.erase(one);
    EXPECT_EQ(numbers(list), (std::vector{0, 2, 3}));
}

TEST_F(OperationList, TakesOverAnotherOneBehindItsLast) {
    test_operation four{4}, five{5};
    operation_list others;
    others.push_front(five);
    others.push_front(four);
    list.append(std::move(others));
    EXPECT_EQ(numbers(list), (std::vector{1, 2, 3, 4, 5}));
    // The links go both ways.
    list.erase(three);
    list.erase(four);
    EXPECT_EQ(numbers(list), (std::vector{1, 2, 5}));
    list.erase(five);
    list.push_back(three);
    EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
}

TEST(EmptyOperationList, TakesOverAnotherOne) {
    test_operation one{1}, two{2};
    operation_list list;
    operation_list others;
    others.push_back(one);
    list.append(std::move(others));
    list.push_back(two);
    EXPECT_EQ(numbers(list), (std::vector{1, 2}));
    list.erase(one);
    EXPECT_EQ(&list.pop_front(), &two);
    EXPECT_TRUE(list.empty());
}

TEST_F(OperationList, LosesItsFirst) {
    list.erase(one);
    EXPECT_EQ(numbers(list), (std::vector{2, 3}));
}

TEST_F(OperationList, LosesOneInTheMiddle) {
    list.erase(two);
    EXPECT_EQ(numbers(list), (std::vector{1, 3}));
}

TEST_F(OperationList, AppendsAfterItsLastWasErased) {
    list.erase(three);
    test_operation four{4};
    list.push_back(four);
    EXPECT_EQ(numbers(list), (std::vector{1, 2, 4}));
}

TEST_F(OperationList, CanBeFilledAgainAfterItsOnlyOneWasErased) {
    list.erase(one);
    list.erase(two);
    list.erase(three);
    EXPECT_TRUE(list.empty());
    list.push_back(two);
    list.push_back(one);
    EXPECT_EQ(numbers(list), (std::vector{2, 1}));
}

TEST(EmptyOperationList, KnowsNothingOfThoseThatWereTakenOut) {
    auto first = std::make_unique<test_operation>(1);
    auto second = std::make_unique<test_operation>(2);
    test_operation three{3}, four{4};
    operation_list list;
    EXPECT_TRUE(list.push_back(*first));
    EXPECT_FALSE(list.push_back(*second));
    list.pop_front();
    first.reset();  // what the second would say of it is not asked
    list.erase(*second);
    second.reset();
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(list.push_back(three));
    EXPECT_FALSE(list.push_back(four));
    list.erase(three);
    EXPECT_EQ(numbers(list), (std::vector{4}));
    list.erase(four);
    EXPECT_TRUE(list.empty());
}

TEST(OperationListAtRandom, BehavesLikeADeque) {
    eddy::test::random_numbers random;
    std::deque<test_operation> operations;
    for (int i = 0; i != 32; ++i) {
        operations.emplace_back(i);
    }
    operation_list list;
    std::vector<int> expected;
    for (std::size_t step = 0; step != eddy::test::scaled(20'000); ++step) {
        const int number = static_cast<int>(random.below(operations.size()));
        const auto found = std::find(expected.begin(), expected.end(), number);
        if (found == expected.end()) {
            list.push_back(operations[static_cast<std::size_t>(number)]);
            expected.push_back(number);
        } else if (random.one_in(2)) {
            list.erase(operations[static_cast<std::size_t>(number)]);
            expected.erase(found);
        } else {
            ASSERT_EQ(number_of(list.pop_front()), expected.front());
            expected.erase(expected.begin());
        }
        ASSERT_EQ(numbers(list), expected) << "step " << step;
    }
}

}  // namespace
}  // namespace eddy::test::operation_list_test
