// SPDX-License-Identifier: Apache-2.0
#include "intrusive/memory.hpp"
#include "support/random.hpp"

#include <eddy/intrusive/timer_heap.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace eddy::test::timer_heap_test {
namespace {

using eddy::timer_heap;
using eddy::timer_node;
using eddy::test::allocations;
using eddy::test::scaled;

class TimerHeap : public ::testing::Test {
protected:
    TimerHeap() { reserve(nodes.size()); }

    void reserve(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            EXPECT_TRUE(heap.reserve());
        }
    }

    /// The numbers of the nodes that are due, in the order in which they come out.
    std::vector<std::size_t> due(std::int64_t now_ns) {
        std::vector<std::size_t> result;
        while (const timer_node* const node = heap.pop_due(now_ns)) {
            EXPECT_FALSE(node->armed());
            result.push_back(static_cast<std::size_t>(node - nodes.data()));
        }
        return result;
    }

    using order = std::vector<std::size_t>;

    std::vector<timer_node> nodes{8};
    timer_heap heap;
};

TEST_F(TimerHeap, GivesOutTheEarliestFirst) {
    heap.insert(nodes[0], 30);
    heap.insert(nodes[1], 10);
    heap.insert(nodes[2], 20);
    EXPECT_EQ(heap.next_deadline_ns(), 10);
    EXPECT_EQ(heap.size(), 3U);
    EXPECT_EQ(due(30), (order{1, 2, 0}));
    EXPECT_TRUE(heap.empty());
}

TEST_F(TimerHeap, GivesOutNothingEarly) {
    heap.insert(nodes[0], 10);
    EXPECT_EQ(due(9), order{});
    EXPECT_TRUE(nodes[0].armed());
    EXPECT_EQ(due(10), (order{0}));
}

TEST_F(TimerHeap, EqualDeadlinesComeInTheOrderSet) {
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        heap.insert(nodes[i], 5);
    }
    EXPECT_EQ(due(5), (order{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(TimerHeap, SettingTheSameDeadlineAgainPutsItBehindItsEquals) {
    heap.insert(nodes[0], 5);
    heap.insert(nodes[1], 5);
    heap.move(nodes[0], 5);
    EXPECT_EQ(due(5), (order{1, 0}));
}

TEST_F(TimerHeap, EqualDeadlinesComeInTheOrderSetAlsoWhenOneWasMovedLater) {
    heap.insert(nodes[0], 10);
    heap.insert(nodes[1], 20);
    heap.move(nodes[0], 20);
    heap.insert(nodes[2], 20);
    EXPECT_EQ(due(20), (order{1, 0, 2}));
}

TEST_F(TimerHeap, OneThatWasMovedLaterIsNotDueAtItsOldDeadline) {
    heap.insert(nodes[0], 10);
    heap.move(nodes[0], 30);
    heap.insert(nodes[1], 20);
    EXPECT_EQ(due(29), (order{1}));
    EXPECT_EQ(heap.next_deadline_ns(), 30);
    EXPECT_EQ(due(30), (order{0}));
}

TEST_F(TimerHeap, OneThatWasMovedLaterAndBackCountsAsSetAnew) {
    heap.insert(nodes[0], 10);
    heap.insert(nodes[1], 10);
    heap.move(nodes[0], 50);
    heap.move(nodes[0], 10);
    EXPECT_EQ(due(10), (order{1, 0}));
}

TEST_F(TimerHeap, OneThatWasMovedLaterTwiceHasItsLastDeadline) {
    heap.insert(nodes[0], 10);
    heap.move(nodes[0], 50);
    heap.move(nodes[0], 40);
    EXPECT_EQ(heap.next_deadline_ns(), 40);
    EXPECT_EQ(nodes[0].deadline_ns(), 40);
}

TEST_F(TimerHeap, OneThatIsNotArmedIsNotPushedBack) {
    EXPECT_FALSE(heap.push_back(nodes[0], INT64_MAX));
    for (std::size_t i : {0U, 1U, 2U}) {
        heap.insert(nodes[i], 10);
    }
    EXPECT_TRUE(heap.erase(nodes[0]));
    EXPECT_TRUE(heap.erase(nodes[1]));  // the last of the array, and one that is not
    EXPECT_FALSE(heap.push_back(nodes[0], INT64_MAX));
    EXPECT_FALSE(heap.push_back(nodes[1], INT64_MAX));
    EXPECT_EQ(due(10), (order{2}));
    EXPECT_EQ(nodes[2].deadline_ns(), 10);
    nodes[2].forget_deadline();
    EXPECT_FALSE(heap.push_back(nodes[2], INT64_MAX));
    EXPECT_TRUE(heap.empty());
}

TEST_F(TimerHeap, MovingEarlierTakesEffectAtOnce) {
    heap.insert(nodes[0], 10);
    heap.insert(nodes[1], 20);
    heap.move(nodes[1], 5);
    EXPECT_EQ(heap.next_deadline_ns(), 5);
    EXPECT_EQ(due(10), (order{1, 0}));
}

TEST_F(TimerHeap, MovingOneThatIsNotArmedSetsIt) {
    heap.move(nodes[0], 10);
    EXPECT_TRUE(nodes[0].armed());
    EXPECT_EQ(due(10), (order{0}));
}

TEST_F(TimerHeap, TheLimitsOfTheClockAreDeadlinesLikeAnyOther) {
    heap.insert(nodes[0], INT64_MAX);
    heap.insert(nodes[1], INT64_MIN);
    heap.insert(nodes[2], 0);
    EXPECT_EQ(due(INT64_MAX - 1), (order{1, 2}));
    EXPECT_EQ(due(INT64_MAX), (order{0}));
}

TEST(TimerHeapBranches, AfterAnErasureTheLastOneMayHaveToGoTowardsTheRoot) {
    // The hole is a child of the 100, and the last node, an 11, comes from another branch.
    const std::int64_t deadlines[] = {0,  100, 10, 10, 10, 101, 102, 103, 104, 11, 11,
                                      11, 11,  11, 11, 11, 11,  11,  11,  11,  11};
    timer_heap branches;
    std::deque<timer_node> in_branches;
    for (const std::int64_t deadline : deadlines) {
        ASSERT_TRUE(branches.reserve());
        branches.insert(in_branches.emplace_back(), deadline);
    }
    branches.erase(in_branches[5]);
    std::int64_t last = INT64_MIN;
    while (const timer_node* const node = branches.pop_due(INT64_MAX)) {
        EXPECT_GE(node->deadline_ns(), last);
        last = node->deadline_ns();
    }
}

TEST_F(TimerHeap, VisitsEachNodeOnce) {
    std::map<const timer_node*, int> visits;
    for (timer_node& node : nodes) {
        heap.insert(node, 3);
    }
    heap.for_each([&](timer_node& node) { ++visits[&node]; });
    EXPECT_EQ(visits.size(), nodes.size());
    for (const auto& [node, count] : visits) {
        EXPECT_EQ(count, 1);
    }
}

TEST_F(TimerHeap, CanBeEmptiedByErasingItsLast) {
    for (timer_node& node : nodes) {
        heap.insert(node, 3);
    }
    while (!heap.empty()) {
        timer_node& node = heap.last();
        heap.erase(node);
        EXPECT_FALSE(node.armed());
    }
}

TEST_F(TimerHeap, ErasingOneThatIsNotArmedDoesNothing) {
    EXPECT_FALSE(heap.erase(nodes[0]));
    heap.insert(nodes[0], 3);
    heap.insert(nodes[1], 2);
    EXPECT_FALSE(heap.erase(nodes[2]));
    EXPECT_TRUE(heap.erase(nodes[1]));
    EXPECT_FALSE(heap.erase(nodes[1]));
    EXPECT_TRUE(heap.erase(nodes[0]));
    EXPECT_FALSE(heap.erase(nodes[0]));
    EXPECT_TRUE(heap.empty());
}

TEST_F(TimerHeap, NeverAllocatesOnceThereIsRoom) {
    std::vector<timer_node> many(1000);
    reserve(many.size());
    const std::uint64_t before = allocations();
    for (std::size_t i = 0; i != many.size(); ++i) {
        heap.insert(many[i], static_cast<std::int64_t>(i * 7919 % 1000));
    }
    for (std::size_t i = 0; i != many.size(); ++i) {
        heap.move(many[i], static_cast<std::int64_t>(i * 104729 % 2000));
    }
    for (std::size_t i = 0; i != many.size(); i += 2) {
        heap.erase(many[i]);
    }
    while (heap.pop_due(INT64_MAX) != nullptr) {}
    EXPECT_EQ(allocations(), before);
}

TEST(TimerHeapNumbers, EqualDeadlinesComeInTheOrderSetAlsoWhenTheNumbersAreUsedUp) {
    for (std::uint32_t left = 0; left != 12; ++left) {
        timer_heap heap(UINT32_MAX - left);
        std::vector<timer_node> nodes(6);
        for (std::size_t i = 0; i != nodes.size(); ++i) {
            ASSERT_TRUE(heap.reserve());
        }
        heap.insert(nodes[0], 9);
        heap.insert(nodes[1], 5);
        heap.insert(nodes[2], 9);
        EXPECT_TRUE(heap.push_back(nodes[1], 9));
        heap.insert(nodes[3], 8);
        heap.insert(nodes[4], 9);
        heap.move(nodes[0], 9);
        EXPECT_TRUE(heap.push_back(nodes[3], 9));
        heap.insert(nodes[5], 9);
        for (const std::size_t expected : {2U, 1U, 4U, 0U, 3U, 5U}) {
            EXPECT_EQ(heap.pop_due(9), &nodes[expected]) << left << " numbers left";
        }
    }
}

TEST(TimerHeapRoom, TheKernelHasGivenItsPagesBeforeATimerIsSet) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the memory of a sanitizer has faults too";
#endif
    constexpr std::size_t many = 100'000;
    timer_heap heap;
    std::vector<timer_node> nodes(many);
    for (std::size_t i = 0; i != many; ++i) {
        ASSERT_TRUE(heap.reserve());
    }
    const auto faults = [] {
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);
        return usage.ru_minflt;
    };
    const long before = faults();
    for (timer_node& node : nodes) {
        heap.insert(node, 1);
    }
    EXPECT_LT(faults() - before, 20);  // 1.6 MB are 390 pages
}

TEST(TimerHeapRoom, IsThereForATimerWhileAnotherThreadMakesMore) {
    timer_heap heap;
    std::vector<timer_node> nodes(17);
    for (timer_node& node : nodes) {
        ASSERT_TRUE(heap.reserve());
        if (&node != &nodes.back()) {
            heap.insert(node, 1);
        }
    }
    std::atomic<bool> making{false};
    std::atomic<bool> set{false};
    bool set_meanwhile = false;
    std::thread other([&] {
        const auto wait_for_the_timer = [&] {
            making = true;
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
            while (!set && std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
            set_meanwhile = set;
        };
        const eddy::test::inside_allocation watched(wait_for_the_timer);
        for (int i = 0; i != 16; ++i) {  // the last one is the 33rd
            EXPECT_TRUE(heap.reserve());
        }
        making = true;
    });
    while (!making) {
        std::this_thread::yield();
    }
    heap.insert(nodes.back(), 1);
    set = true;
    other.join();
    EXPECT_TRUE(set_meanwhile);
    EXPECT_EQ(heap.size(), nodes.size());
}

TEST(TimerHeapRoom, TheLastOneThatGivesItBackIsToldSo) {
    timer_heap heap;
    ASSERT_TRUE(heap.reserve());
    ASSERT_TRUE(heap.reserve());
    EXPECT_FALSE(heap.unreserve());
    EXPECT_TRUE(heap.unreserve());
}

TEST(TimerHeapRoom, IsReusedByThoseThatComeLater) {
    timer_heap heap;
    std::vector<timer_node> nodes(16);
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        ASSERT_TRUE(heap.reserve());
    }
    const std::uint64_t before = allocations();
    for (int round = 0; round != 100; ++round) {
        heap.unreserve();
        ASSERT_TRUE(heap.reserve());
    }
    EXPECT_EQ(allocations(), before);
}

TEST(TimerHeapRoom, SaysWhenThereIsNoMemoryAndGoesOnAfterwards) {
    timer_heap heap;
    timer_node first, second;
    ASSERT_TRUE(heap.reserve());
    {
        // What fits into the memory that is there still gets it.
        const std::vector<int> warm_up(1);
        const eddy::test::no_memory exhausted;
        std::size_t fitted = 0;
        while (heap.reserve()) {
            ++fitted;
            ASSERT_LT(fitted, 1000U);
        }
        EXPECT_FALSE(heap.reserve());
    }
    EXPECT_TRUE(heap.reserve());
    heap.insert(first, 2);
    heap.insert(second, 1);
    EXPECT_EQ(heap.pop_due(2), &second);
    EXPECT_EQ(heap.pop_due(2), &first);
}

TEST(TimerHeapDeathTest, SettingATimerWithoutRoomIsMisuse) {
    timer_heap heap;
    timer_node node;
    EXPECT_DEATH(heap.insert(node, 1), "a timer was set for which no room was reserved");
}

/// A timer_heap and the plain thing that it has to behave like.
class TimerHeapAndModel {
public:
    explicit TimerHeapAndModel(std::size_t size, std::uint32_t first_sequence = 0)
        : heap_(first_sequence), nodes_(size), set_(size) {
        for (std::size_t i = 0; i != size; ++i) {
            EXPECT_TRUE(heap_.reserve());
        }
    }

    /// One random step; false if the two differ afterwards.
    bool step() {
        const std::size_t i = random_.below(nodes_.size());
        switch (random_.below(8)) {
            case 0:
            case 1:
            case 2:
                move(i, now_ns_ + deadline_in());
                break;
            case 3:  // pushed back, as the deadline of a connection that is alive
                move(i, set_[i].first + deadline_in());
                break;
            case 4:  // earlier, perhaps past
                move(i, set_[i].first - deadline_in());
                break;
            case 5:
                erase(i);
                break;
            case 6:
                return same_next() && same_due(now_ns_);
            default:
                now_ns_ += deadline_in() / 4;
                return same_due(now_ns_);
        }
        return heap_.size() == model_.size();
    }

    bool drain() { return same_due(INT64_MAX) && heap_.empty(); }

private:
    using key = std::pair<std::int64_t, std::uint64_t>;  // deadline and sequence

    /// Few different ones, so that there are many equal deadlines; now and then a far one.
    std::int64_t deadline_in() {
        return static_cast<std::int64_t>(random_.one_in(50) ? random_.below(100'000)
                                                            : random_.below(64));
    }

    void move(std::size_t i, std::int64_t deadline_ns) {
        if (nodes_[i].armed()) {
            model_.erase(set_[i]);
        }
        heap_.move(nodes_[i], deadline_ns);
        set_[i] = {deadline_ns, sequence_++};
        model_.emplace(set_[i], i);
    }

    void erase(std::size_t i) {
        if (nodes_[i].armed()) {
            heap_.erase(nodes_[i]);
            model_.erase(set_[i]);
        }
    }

    bool same_next() {
        return heap_.empty() ? model_.empty()
                             : heap_.next_deadline_ns() == model_.begin()->first.first;
    }

    bool same_due(std::int64_t now_ns) {
        while (!model_.empty() && model_.begin()->first.first <= now_ns) {
            if (heap_.pop_due(now_ns) != &nodes_[model_.begin()->second]) {
                return false;
            }
            model_.erase(model_.begin());
        }
        return heap_.pop_due(now_ns) == nullptr;
    }

    eddy::test::random_numbers random_;
    timer_heap heap_;
    std::vector<timer_node> nodes_;
    std::vector<key> set_;
    std::map<key, std::size_t> model_;
    std::uint64_t sequence_ = 0;
    std::int64_t now_ns_ = 0;
};

void compare(std::size_t size, std::size_t steps, std::uint32_t first_sequence = 0) {
    TimerHeapAndModel both(size, first_sequence);
    for (std::size_t i = 0; i != steps; ++i) {
        ASSERT_TRUE(both.step()) << "step " << i;
    }
    EXPECT_TRUE(both.drain());
}

TEST(TimerHeapAtRandom, BehavesLikeASortedMap) { compare(500, scaled(1'000'000)); }
TEST(TimerHeapAtRandom, BehavesLikeASortedMapWhenItIsSmall) { compare(6, scaled(200'000)); }
TEST(TimerHeapAtRandom, BehavesLikeASortedMapAlsoWhenItsNumbersAreUsedUp) {
    for (std::uint32_t left = 1; left < 2'000; left += 37) {
        compare(100, scaled(5'000), UINT32_MAX - left);
    }
}
TEST(LongTimerHeapAtRandom, BehavesLikeASortedMapWhenItIsLarge) {
    compare(100'000, scaled(100'000));
}

TEST(TimerHeapStress, ThreadsReserveWhileTheOwnerInserts) {
    constexpr std::size_t reservers = 3;
    const std::size_t each = scaled(5'000);
    std::vector<timer_node> nodes(reservers * each);
    timer_heap heap;
    std::atomic<std::size_t> reserved{0};
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r != reservers; ++r) {
        threads.emplace_back([&] {
            for (std::size_t i = 0; i != each; ++i) {
                EXPECT_TRUE(heap.reserve());
                EXPECT_TRUE(heap.reserve());
                heap.unreserve();
                reserved.fetch_add(1, std::memory_order_release);
            }
        });
    }
    for (std::size_t inserted = 0; inserted != nodes.size();) {
        const std::size_t allowed = reserved.load(std::memory_order_acquire);
        if (inserted == allowed) {
            std::this_thread::yield();
        }
        for (; inserted != allowed; ++inserted) {
            heap.insert(nodes[inserted], static_cast<std::int64_t>(inserted * 7919 % 4096));
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(heap.size(), nodes.size());
    std::int64_t last = INT64_MIN;
    while (const timer_node* const node = heap.pop_due(INT64_MAX)) {
        ASSERT_GE(node->deadline_ns(), last);
        last = node->deadline_ns();
    }
}

}  // namespace
}  // namespace eddy::test::timer_heap_test
