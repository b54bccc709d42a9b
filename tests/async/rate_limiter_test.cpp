// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/rate_limiter.hpp>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::rate_limiter_test {
namespace {

class RateLimiter : public EngineTest {};
EDDY_ON_EVERY_ENGINE(RateLimiter);

TEST(RateLimiterWithoutLoop, ABurstIsThereAtTheBeginningAndNotMore) {
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 5});
    EXPECT_TRUE(limiter.try_acquire(3));
    EXPECT_FALSE(limiter.try_acquire(3));
    EXPECT_TRUE(limiter.try_acquire(2));
    EXPECT_FALSE(limiter.try_acquire());
    EXPECT_TRUE(limiter.try_acquire(0));
}

TEST(RateLimiterWithoutLoop, TheLongestTimeIsOneToo) {
    rate_limiter limiter({.tokens = 1, .per = duration::max(), .burst = 1});
    EXPECT_TRUE(limiter.try_acquire());
    EXPECT_FALSE(limiter.try_acquire());
}

TEST(RateLimiterWithoutLoop, MoreThanTheBurstIsAnError) {
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 5});
    running wait(limiter.acquire(6));
    wait.start();
    EXPECT_EQ(wait.seen.error, std::errc::invalid_argument);
    EXPECT_FALSE(limiter.try_acquire(6));
}

TEST_P(RateLimiter, LetsThroughAsManyAsTheRateSaysAndInOrder) {
    rate_limiter limiter({.tokens = 1, .per = 5ms, .burst = 1});
    using wait = running<decltype(limiter.acquire())>;
    std::vector<std::unique_ptr<wait>> waits;
    const auto begin = clock::now();
    for (int i = 0; i != 6; ++i) {
        waits.push_back(std::make_unique<wait>(limiter.acquire()));
        waits.back()->start_on(loop());
    }
    for (std::size_t i = 0; i != waits.size(); ++i) {
        ASSERT_TRUE(until([&] { return waits[i]->ended(); }));
        EXPECT_EQ(waits[i]->how(), ending::value);
        EXPECT_EQ(waits[i]->seen.where, &loop());
        EXPECT_GE(clock::now() - begin, 5ms * i);
    }
}

TEST_P(RateLimiter, AStoppedOneLetsTheNextThrough) {
    rate_limiter limiter({.tokens = 1, .per = 300ms, .burst = 100});
    ASSERT_TRUE(limiter.try_acquire(100));
    running many(limiter.acquire(100));
    running one(limiter.acquire());
    many.start_on(loop());
    one.start_on(loop());
    settle();
    EXPECT_FALSE(one.ended());
    many.stop();
    EXPECT_TRUE(until([&] { return one.ended(); }));
    EXPECT_EQ(many.how(), ending::stopped);
    EXPECT_EQ(one.how(), ending::value);
}

TEST_P(RateLimiter, ALoopThatIsDrainedStopsItsWaits) {
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 1});
    ASSERT_TRUE(limiter.try_acquire());
    running first(limiter.acquire());
    running second(limiter.acquire());
    first.start_on(loop());
    second.start_on(loop());
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(first.how(), ending::stopped);
    settle();
    EXPECT_EQ(second.how(), ending::stopped);
}

TEST_P(RateLimiter, ALoopThatIsDrainedStopsThoseBehindOneOfAnotherLoopToo) {
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 1});
    ASSERT_TRUE(limiter.try_acquire());
    eddy::loop other({.engine = GetParam()});
    running first(limiter.acquire());
    running second(limiter.acquire());
    first.start_on(other);
    other.poll();
    second.start_on(loop());
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(second.how(), ending::stopped);
    EXPECT_FALSE(first.ended());
    first.stop();
    while (other.poll() != 0) {}
    EXPECT_EQ(first.how(), ending::stopped);
}

TEST_P(RateLimiter, AWaitMayBeDestroyedOnItsLoop) {
    rate_limiter limiter({.tokens = 1, .per = 1ms, .burst = 1});
    ASSERT_TRUE(limiter.try_acquire());
    using wait = running<decltype(limiter.acquire())>;
    auto first = std::make_unique<wait>(limiter.acquire());
    running second(limiter.acquire());
    first->start_on(loop());
    second.start_on(loop());
    loop().post([&] { first.reset(); });
    EXPECT_TRUE(until([&] { return second.ended(); }));
    EXPECT_EQ(second.how(), ending::value);
}

/// Waits on two loops, of which many are stopped from a third thread. All end, and not faster than
/// the rate allows.
void stops_from_everywhere(engine_kind engine, std::size_t rounds) {
    constexpr duration cost = std::chrono::microseconds(10);
    loop_group group({.size = 2, .loop = {.engine = engine}});
    group.start();
    rate_limiter limiter({.tokens = 1, .per = cost, .burst = 2});
    std::atomic<long> granted = 0;
    const auto begin = clock::now();
    const auto worker = [&](unsigned seed) {
        std::mt19937_64 random(seed);
        using wait = running<decltype(limiter.acquire())>;
        for (std::size_t i = 0; i != rounds; ++i) {
            std::vector<std::unique_ptr<wait>> waits;
            for (int j = 0; j != 4; ++j) {
                waits.push_back(std::make_unique<wait>(limiter.acquire(1 + random() % 2)));
                waits.back()->start_on(group.at(random() % 2));
            }
            for (auto& each : waits) {
                if (random() % 2 == 0) each->stop();
            }
            for (auto& each : waits) {
                while (!each->ended()) std::this_thread::yield();
                granted += each->how() == ending::value;
            }
        }
    };
    std::thread one(worker, 1);
    std::thread two(worker, 2);
    one.join();
    two.join();
    EXPECT_GT(granted, 0);
    EXPECT_LE((granted - 2) * cost, clock::now() - begin);
}

TEST_P(RateLimiter, StopsFromEverywhereLoseNobody) { stops_from_everywhere(GetParam(), 500); }

class LongRateLimiter : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongRateLimiter);
TEST_P(LongRateLimiter, StopsFromEverywhereLoseNobody) {
    stops_from_everywhere(GetParam(), scaled(10'000));
}

TEST(RateLimiterMisuseDeathTest, WaitingWithoutALoop) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            rate_limiter limiter({.tokens = 1, .per = std::chrono::hours(1), .burst = 1});
            running first(limiter.acquire());
            first.start();
            running second(limiter.acquire());
            second.start();
        },
        "needs a timer");
}

}  // namespace
}  // namespace eddy::test::rate_limiter_test
