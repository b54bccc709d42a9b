// SPDX-License-Identifier: Apache-2.0
#include "intrusive/test_operation.hpp"
#include "support/random.hpp"

#include <eddy/intrusive/ready_queue.hpp>

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace eddy::test::ready_queue_test {
namespace {

using eddy::operation;
using eddy::priority_count;
using eddy::priority_level;
using eddy::ready_queue;
using eddy::test::number_of;
using eddy::test::test_operation;

std::vector<int> numbers(const ready_queue& queue) {
    std::vector<int> result;
    queue.for_each([&](operation& op) { result.push_back(number_of(op)); });
    return result;
}

std::vector<int> popped(ready_queue& queue) {
    std::vector<int> result;
    while (!queue.empty()) {
        result.push_back(number_of(queue.pop()));
    }
    return result;
}

TEST(ReadyQueue, IsEmptyAtFirst) {
    const ready_queue queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(numbers(queue).empty());
}

TEST(ReadyQueue, TakesManyOfOnePriorityAtOnce) {
    test_operation first(1, 32), second(2, 32), third(3, 32), high(4, 0);
    ready_queue queue;
    queue.push(first);
    eddy::operation_list many;
    many.push_back(second);
    many.push_back(third);
    queue.push(std::move(many), 32);
    queue.push(high);
    EXPECT_EQ(popped(queue), (std::vector{4, 1, 2, 3}));
    eddy::operation_list more;
    more.push_back(second);
    queue.push(std::move(more), 32);
    EXPECT_EQ(popped(queue), (std::vector{2}));
}

TEST(ReadyQueue, TheLowestPriorityNumberComesFirst) {
    test_operation low(1, 63);
    test_operation middle(2, 32);
    test_operation high(3, 0);
    ready_queue queue;
    for (test_operation* op : {&low, &middle, &high}) {
        queue.push(*op);
    }
    EXPECT_EQ(numbers(queue), (std::vector{3, 2, 1}));
    EXPECT_EQ(popped(queue), (std::vector{3, 2, 1}));
}

TEST(ReadyQueue, WithinOnePriorityFirstComeFirstServed) {
    std::deque<test_operation> operations;
    std::vector<int> expected;
    ready_queue queue;
    for (int i = 0; i != 5; ++i) {
        queue.push(operations.emplace_back(i, 7));
        expected.push_back(i);
    }
    EXPECT_EQ(popped(queue), expected);
}

TEST(ReadyQueue, KnowsEachOfItsLevels) {
    for (int level = 0; level != priority_count; ++level) {
        test_operation op(level, static_cast<priority_level>(level));
        ready_queue queue;
        queue.push(op);
        EXPECT_FALSE(queue.empty()) << level;
        EXPECT_EQ(&queue.pop(), &op) << level;
        EXPECT_TRUE(queue.empty()) << level;
    }
}

TEST(ReadyQueue, ALevelWhoseLastWasErasedIsEmpty) {
    test_operation op(1, 5);
    test_operation later(2, 6);
    ready_queue queue;
    queue.push(op);
    queue.push(later);
    queue.erase(op);
    EXPECT_EQ(&queue.pop(), &later);
    EXPECT_TRUE(queue.empty());
}

TEST(ReadyQueue, ALevelKeepsTheOthersWhenOneIsErased) {
    test_operation first(1, 5);
    test_operation second(2, 5);
    ready_queue queue;
    queue.push(first);
    queue.push(second);
    queue.erase(first);
    EXPECT_FALSE(ready_queue::contains(first));
    EXPECT_TRUE(ready_queue::contains(second));
    EXPECT_EQ(popped(queue), (std::vector{2}));
}

TEST(ReadyQueue, OneOfHigherPriorityOvertakesWhatIsThereAlready) {
    test_operation first(1, 10);
    test_operation second(2, 10);
    test_operation urgent(3, 9);
    ready_queue queue;
    queue.push(first);
    queue.push(second);
    EXPECT_EQ(&queue.pop(), &first);
    queue.push(urgent);
    EXPECT_EQ(popped(queue), (std::vector{3, 2}));
}

TEST(ReadyQueue, ALevelIsTheFirstUntilSomethingComesBeforeIt) {
    test_operation first(1, 10), second(2, 10), third(3, 10), low(4, 11), urgent(5, 9);
    ready_queue queue;
    queue.push(low);
    queue.push(first);
    queue.push(second);
    ready_queue::first_level level(queue);
    EXPECT_EQ(&level.pop(), &first);
    EXPECT_TRUE(level.is_first());
    queue.push(third);
    EXPECT_TRUE(level.is_first());
    EXPECT_EQ(&level.pop(), &second);
    queue.push(urgent);
    EXPECT_FALSE(level.is_first());
    EXPECT_EQ(&queue.pop(), &urgent);
    EXPECT_TRUE(level.is_first());
    EXPECT_EQ(popped(queue), (std::vector{3, 4}));
}

TEST(ReadyQueue, ALevelThatIsEmptyIsNotTheFirst) {
    test_operation first(1, 63), second(2, 63), third(3, 63);
    ready_queue queue;
    queue.push(first);
    ready_queue::first_level level(queue);
    EXPECT_EQ(&level.pop(), &first);
    EXPECT_FALSE(level.is_first());
    EXPECT_TRUE(queue.empty());
    queue.push(second);
    EXPECT_TRUE(level.is_first());
    queue.erase(second);
    EXPECT_FALSE(level.is_first());
    queue.push(third);
    EXPECT_EQ(&level.pop(), &third);
    EXPECT_TRUE(queue.empty());
}

TEST(ReadyQueueAtRandom, RunsInTheOrderOfPriorityAndArrival) {
    eddy::test::random_numbers random;
    std::deque<test_operation> operations;
    for (int i = 0; i != 200; ++i) {
        operations.emplace_back(i, static_cast<priority_level>(random.below(priority_count)));
    }
    ready_queue queue;
    std::optional<ready_queue::first_level> level;
    std::map<std::pair<int, std::size_t>, int> expected;  // by priority and arrival
    std::map<int, std::size_t> arrivals;
    for (std::size_t step = 0; step != eddy::test::scaled(100'000); ++step) {
        test_operation& op = operations[random.below(operations.size())];
        if (const auto arrival = arrivals.find(op.number); arrival == arrivals.end()) {
            ASSERT_FALSE(ready_queue::contains(op));
            queue.push(op);
            arrivals.emplace(op.number, step);
            expected.emplace(std::pair(int{op.priority()}, step), op.number);
        } else if (random.one_in(2)) {
            queue.erase(op);
            expected.erase({op.priority(), arrival->second});
            arrivals.erase(arrival);
        } else {
            if (!level || !level->is_first()) {
                level.emplace(queue);
            }
            const int number = number_of(random.one_in(2) ? level->pop() : queue.pop());
            ASSERT_EQ(number, expected.begin()->second) << "step " << step;
            expected.erase(expected.begin());
            arrivals.erase(number);
        }
        ASSERT_EQ(queue.empty(), expected.empty()) << "step " << step;
    }
}

}  // namespace
}  // namespace eddy::test::ready_queue_test
