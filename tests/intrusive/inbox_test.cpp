// SPDX-License-Identifier: Apache-2.0
#include "support/random.hpp"

#include <eddy/base/unique_fd.hpp>
#include <eddy/intrusive/inbox.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::inbox_test {
namespace {

using eddy::inbox;
using eddy::queue_node;
using eddy::test::scaled;

struct letter : queue_node {
    explicit letter(int n, std::size_t from = 0) noexcept
        : queue_node(eddy::node_kind::entry), sender(from), number(n) {}
    std::size_t sender;
    int number;
};

std::vector<int> taken(inbox& box) {
    std::vector<int> result;
    for (const queue_node* node = box.take(); node != nullptr; node = inbox::next(*node)) {
        result.push_back(static_cast<const letter*>(node)->number);
    }
    return result;
}

TEST(Inbox, IsTakenInTheOrderOfThePushes) {
    letter one(1), two(2), three(3);
    inbox box;
    EXPECT_TRUE(box.empty());
    EXPECT_FALSE(box.push(one));
    EXPECT_FALSE(box.push(two));
    EXPECT_FALSE(box.push(three));
    EXPECT_FALSE(box.empty());
    EXPECT_EQ(taken(box), (std::vector{1, 2, 3}));
    EXPECT_TRUE(box.empty());
    EXPECT_EQ(box.take(), nullptr);
}

TEST(Inbox, CanAlsoBeTakenTheNewestFirst) {
    letter one(1), two(2), three(3);
    inbox box;
    EXPECT_TRUE(box.park());
    EXPECT_EQ(box.take_newest_first(), nullptr);
    EXPECT_FALSE(box.push(one));
    EXPECT_FALSE(box.push(two));
    EXPECT_FALSE(box.push(three));
    queue_node* const newest = box.take_newest_first();
    EXPECT_EQ(newest, &three);
    EXPECT_TRUE(box.empty());
    EXPECT_EQ(inbox::next(*newest), &two);
    queue_node* const oldest = inbox::reversed(newest);
    EXPECT_EQ(oldest, &one);
    EXPECT_EQ(inbox::next(*oldest), &two);
    EXPECT_EQ(inbox::next(three), nullptr);
    EXPECT_EQ(inbox::reversed(nullptr), nullptr);
}

TEST(Inbox, ANodeThatWasTakenCanBePushedAgain) {
    letter one(1), two(2);
    inbox box;
    EXPECT_FALSE(box.push(one));
    EXPECT_FALSE(box.push(two));
    EXPECT_EQ(taken(box), (std::vector{1, 2}));
    EXPECT_FALSE(box.push(two));
    EXPECT_EQ(taken(box), (std::vector{2}));
}

TEST(Inbox, OnlyTheFirstPushOfASleepIsToldToWake) {
    letter one(1), two(2), three(3);
    inbox box;
    ASSERT_TRUE(box.park());
    EXPECT_TRUE(box.push(one));
    EXPECT_FALSE(box.push(two));
    EXPECT_EQ(taken(box), (std::vector{1, 2}));
    EXPECT_FALSE(box.push(three));  // nobody sleeps
}

TEST(Inbox, DoesNotParkOverNodes) {
    letter one(1), two(2);
    inbox box;
    EXPECT_FALSE(box.push(one));
    EXPECT_FALSE(box.park());
    EXPECT_FALSE(box.push(two));
    EXPECT_EQ(taken(box), (std::vector{1, 2}));
}

TEST(Inbox, IsEmptyWhileItsLoopSleeps) {
    inbox box;
    ASSERT_TRUE(box.park());
    EXPECT_TRUE(box.empty());
}

TEST(Inbox, TakingEndsASleepThatNobodyEnded) {
    letter one(1);
    inbox box;
    ASSERT_TRUE(box.park());
    EXPECT_EQ(box.take(), nullptr);
    EXPECT_FALSE(box.push(one));
    EXPECT_EQ(taken(box), (std::vector{1}));
    EXPECT_TRUE(box.park());
}

TEST(Inbox, StaysParkedUntilSomethingIsPushed) {
    letter one(1), two(2);
    inbox box;
    ASSERT_TRUE(box.park());
    EXPECT_TRUE(box.park());
    EXPECT_TRUE(box.push(one));
    EXPECT_FALSE(box.park());
    EXPECT_EQ(taken(box), (std::vector{1}));
    EXPECT_FALSE(box.push(two));
}

TEST(Inbox, RousedNobodyIsToldToWake) {
    letter one(1);
    inbox box;
    box.rouse();
    ASSERT_TRUE(box.park());
    box.rouse();
    EXPECT_TRUE(box.is_untouched());
    EXPECT_FALSE(box.push(one));
    EXPECT_EQ(taken(box), (std::vector{1}));
}

TEST(Inbox, RousingKeepsWhatWasPushed) {
    letter one(1), two(2);
    inbox box;
    ASSERT_TRUE(box.park());
    EXPECT_TRUE(box.push(one));
    box.rouse();
    EXPECT_FALSE(box.push(two));
    EXPECT_EQ(taken(box), (std::vector{1, 2}));
}

/// Several threads push, and one takes and sleeps on an eventfd when there is nothing, as a loop
/// does.
class InboxUnderStress {
public:
    InboxUnderStress(std::size_t senders, std::size_t letters_each, unsigned pause_one_in)
        : letters_(senders), next_(senders, 0), pause_one_in_(pause_one_in) {
        for (std::size_t s = 0; s != senders; ++s) {
            for (std::size_t i = 0; i != letters_each; ++i) {
                letters_[s].emplace_back(static_cast<int>(i), s);
            }
        }
    }

    void run() {
        std::vector<std::thread> threads;
        for (auto& letters : letters_) {
            threads.emplace_back([this, &letters, random = random_.another()]() mutable {
                for (letter& l : letters) {
                    if (random() % pause_one_in_ == 0) {
                        std::this_thread::yield();  // so that the other side gets to sleep
                    }
                    send(l);
                }
            });
        }
        receive_all();
        for (std::thread& thread : threads) {
            thread.join();
        }
        // Every sleep was ended by one push, and nobody else was told to wake.
        EXPECT_EQ(told_.load(), sleeps_);
        EXPECT_TRUE(box_.empty());
    }

private:
    void send(letter& l) {
        if (box_.push(l)) {
            told_.fetch_add(1, std::memory_order_relaxed);
            const std::uint64_t one = 1;
            EXPECT_EQ(::write(wake_.get(), &one, sizeof one), ssize_t{sizeof one});
        }
    }

    void receive_all() {
        const std::size_t total = letters_.size() * letters_.front().size();
        std::size_t received = 0;
        while (received != total && !::testing::Test::HasFailure()) {
            const queue_node* node = box_.take();
            if (node == nullptr && box_.park()) {
                sleep();
            }
            for (; node != nullptr; node = inbox::next(*node), ++received) {
                const auto& l = static_cast<const letter&>(*node);
                EXPECT_EQ(l.number, next_[l.sender]++) << "from sender " << l.sender;
            }
        }
    }

    void sleep() {
        ++sleeps_;
        pollfd question{wake_.get(), POLLIN, 0};
        EXPECT_EQ(::poll(&question, 1, 30'000), 1) << "nobody has woken the sleeper";
        std::uint64_t count = 0;
        EXPECT_EQ(::read(wake_.get(), &count, sizeof count), ssize_t{sizeof count});
        EXPECT_EQ(count, 1U);
    }

    inbox box_;
    eddy::unique_fd wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::vector<std::deque<letter>> letters_;
    std::vector<int> next_;
    eddy::test::random_numbers random_;
    unsigned pause_one_in_;
    std::atomic<std::uint64_t> told_{0};
    std::uint64_t sleeps_ = 0;
};

TEST(InboxStress, ThreeThreadsThatPushAllTheTime) {
    InboxUnderStress(3, scaled(30'000), 1'000'000).run();
}

TEST(InboxStress, TwoThreadsThatLetTheReceiverSleep) {
    InboxUnderStress(2, scaled(15'000), 2).run();
}

TEST(InboxStress, OneThreadThatLetsTheReceiverSleepEachTime) {
    InboxUnderStress(1, scaled(15'000), 1).run();
}

TEST(LongInboxStress, ThreeThreadsWithRandomPauses) {
    InboxUnderStress(3, scaled(20'000), 3).run();
}

}  // namespace
}  // namespace eddy::test::inbox_test
