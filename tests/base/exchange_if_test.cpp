// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/detail/exchange_if.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace eddy::detail {
namespace {

void expect_replaced_once() {
    std::atomic<int> word{1};
    EXPECT_FALSE(exchange_if(word, 2, 3, std::memory_order_acquire));
    EXPECT_EQ(word.load(), 1);
    EXPECT_TRUE(exchange_if(word, 1, 3, std::memory_order_acquire));
    EXPECT_EQ(word.load(), 3);
    EXPECT_FALSE(exchange_if(word, 1, 4, std::memory_order_acquire)) << "it is not there any more";
    EXPECT_EQ(word.load(), 3);
}

TEST(ExchangeIf, WritesOnlyWhereItFindsWhatItExpects) {
    if (!is_lone_thread()) {
        GTEST_SKIP() << "a test before has begun a thread: run it by itself";
    }
    expect_replaced_once();
}

TEST(ExchangeIf, IsTheSameBesideAnotherThread) {
    std::atomic<bool> leave{false};
    std::thread other([&] { leave.wait(false); });
    EXPECT_FALSE(is_lone_thread());
    expect_replaced_once();
    leave = true;
    leave.notify_one();
    other.join();
}

TEST(ExchangeIf, OfManyThreadsOneIsFirst) {
    constexpr int words_count = 2'000;
    constexpr int threads = 4;
    std::vector<std::atomic<int>> words(words_count);
    std::atomic<int> won{0};
    std::vector<std::thread> all;
    for (int t = 1; t <= threads; ++t) {
        all.emplace_back([&, t] {
            for (std::atomic<int>& word : words) {
                if (exchange_if(word, 0, t, std::memory_order_relaxed)) {
                    ++won;
                }
            }
        });
    }
    for (std::thread& t : all) {
        t.join();
    }
    EXPECT_EQ(won.load(), words_count);
}

}  // namespace
}  // namespace eddy::detail
