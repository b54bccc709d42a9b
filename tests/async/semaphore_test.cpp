// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/async_mutex.hpp>
#include <eddy/async/semaphore.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::semaphore_test {
namespace {

struct keep_guard {
    async_mutex::guard* kept;
    void operator()(outcome&, async_mutex::guard guard) { *kept = std::move(guard); }
};

class Semaphore : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Semaphore);

TEST(SemaphoreWithoutLoop, GivesWhatThereIsAndMakesTheOthersWait) {
    semaphore permits(3);
    running two(permits.acquire(2));
    running another_two(permits.acquire(2));
    two.start();
    another_two.start();
    EXPECT_EQ(two.how(), ending::value);
    EXPECT_FALSE(another_two.ended());
    EXPECT_EQ(permits.available(), 1U);
    permits.release();
    EXPECT_EQ(another_two.how(), ending::value);
    EXPECT_EQ(permits.available(), 0U);
}

TEST(SemaphoreWithoutLoop, NobodyOvertakesOneWhoWaits) {
    semaphore permits(1);
    running many(permits.acquire(3));
    running few(permits.acquire(1));
    many.start();
    few.start();
    EXPECT_FALSE(few.ended());
    EXPECT_FALSE(permits.try_acquire());
    permits.release(2);
    EXPECT_EQ(many.how(), ending::value);
    EXPECT_FALSE(few.ended());
    permits.release();
    EXPECT_EQ(few.how(), ending::value);
}

TEST(SemaphoreWithoutLoop, AStoppedWaiterLetsThoseBehindItThrough) {
    semaphore permits(1);
    running many(permits.acquire(3));
    running few(permits.acquire(1));
    many.start();
    few.start();
    many.stop();
    EXPECT_EQ(many.how(), ending::stopped);
    EXPECT_EQ(few.how(), ending::value);
    EXPECT_EQ(permits.available(), 0U);
}

TEST_P(Semaphore, AReleaseRunsNobody) {
    semaphore permits(0);
    running wait(permits.acquire());
    wait.start_on(loop());
    bool inside = true;
    loop().post([&] {
        permits.release();
        inside = wait.ended();
    });
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_FALSE(inside);
    EXPECT_EQ(wait.seen.where, &loop());
}

/// Threads and loops take and give back permits; some give up. None gets lost.
void permits_survive(engine_kind engine, std::size_t rounds) {
    constexpr std::size_t all = 3;
    loop_group group({.size = 2, .loop = {.engine = engine}});
    group.start();
    semaphore permits(all);
    std::atomic<std::size_t> held_max = 0;
    std::atomic<std::size_t> held = 0;
    const auto worker = [&](unsigned seed) {
        std::mt19937_64 random(seed);
        for (std::size_t i = 0; i != rounds; ++i) {
            const std::size_t n = 1 + random() % all;
            running wait(permits.acquire(n));
            if (random() % 4 == 0) {
                wait.start();
            } else {
                wait.start_on(group.at(random() % 2));
            }
            if (random() % 2 == 0) wait.stop();
            while (!wait.ended()) std::this_thread::yield();
            if (wait.how() == ending::value) {
                const std::size_t now = held += n;
                if (now > held_max) held_max = now;
                held -= n;
                permits.release(n);
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i != 3; ++i) threads.emplace_back(worker, i);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(permits.available(), all);
    EXPECT_LE(held_max, all);
}

TEST_P(Semaphore, NoPermitIsLostToAStop) { permits_survive(GetParam(), 2000); }

class LongSemaphore : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongSemaphore);
TEST_P(LongSemaphore, NoPermitIsLostToAStop) { permits_survive(GetParam(), scaled(10'000)); }

TEST_P(Semaphore, AnOperationDestroyedOnItsLoopPassesOnWhatItWasGranted) {
    semaphore permits(0);
    auto waiting = std::make_unique<running<decltype(permits.acquire())>>(permits.acquire());
    auto granted = std::make_unique<running<decltype(permits.acquire())>>(permits.acquire());
    running last(permits.acquire());
    granted->start_on(loop());
    waiting->start_on(loop());
    last.start_on(loop());
    loop().post([&] {
        permits.release();
        granted.reset();  // it has the permit, and its completion is posted
        EXPECT_EQ(permits.available(), 0U);
        waiting.reset();  // and so has this one now
        EXPECT_EQ(permits.available(), 0U);
    });
    EXPECT_TRUE(until([&] { return last.ended(); }));
    EXPECT_EQ(last.how(), ending::value);
}

TEST(AsyncMutexWithoutLoop, AGuardUnlocksAndTheNextGetsIt) {
    async_mutex mutex;
    async_mutex::guard first;
    async_mutex::guard second;
    running one(mutex.lock(), keep_guard{&first});
    running two(mutex.lock(), keep_guard{&second});
    one.start();
    two.start();
    EXPECT_TRUE(first.owns());
    EXPECT_FALSE(two.ended());
    EXPECT_FALSE(mutex.try_lock().owns());
    first.unlock();
    EXPECT_FALSE(first.owns());
    EXPECT_TRUE(second.owns());
    second = async_mutex::guard();
    EXPECT_TRUE(mutex.try_lock().owns());
}

TEST(AsyncMutexWithoutLoop, AGuardThatNobodyTakesUnlocks) {
    async_mutex mutex;
    auto held = mutex.try_lock();
    running wait(mutex.lock());
    wait.start();
    held.unlock();
    EXPECT_EQ(wait.how(), ending::value);
    EXPECT_TRUE(mutex.try_lock().owns());
}

class AsyncMutex : public EngineTest {};
EDDY_ON_EVERY_ENGINE(AsyncMutex);

TEST_P(AsyncMutex, OneAtATimeOverSeveralLoops) {
    loop_group group({.size = 2, .loop = {.engine = GetParam()}});
    group.start();
    async_mutex mutex;
    std::size_t unguarded = 0;  // TSan would tell
    const auto worker = [&](std::size_t index) {
        for (std::size_t i = 0; i != 1000; ++i) {
            async_mutex::guard guard;
            running lock(mutex.lock(), keep_guard{&guard});
            lock.start_on(group.at(index));
            while (!lock.ended()) std::this_thread::yield();
            ++unguarded;
        }
    };
    std::thread one(worker, 0);
    std::thread two(worker, 1);
    one.join();
    two.join();
    EXPECT_EQ(unguarded, 2000U);
}

TEST_P(AsyncMutex, TheLockGoesToThoseWhoWaitInTheirOrder) {
    async_mutex mutex;
    std::vector<int> order;
    struct record {
        std::vector<int>* order;
        int id;
        void operator()(outcome&, const async_mutex::guard&) { order->push_back(id); }
    };
    using wait = running<decltype(mutex.lock()), record>;
    std::vector<std::unique_ptr<wait>> waits;
    auto held = mutex.try_lock();
    for (int i = 0; i != 10; ++i) {
        waits.push_back(std::make_unique<wait>(mutex.lock(), record{&order, i}));
        waits.back()->start_on(loop());
    }
    settle();
    EXPECT_TRUE(order.empty());
    waits[3]->stop();
    held.unlock();
    EXPECT_TRUE(until([&] { return waits.back()->ended(); }));
    EXPECT_EQ(order, (std::vector{0, 1, 2, 4, 5, 6, 7, 8, 9}));
    settle();
    EXPECT_EQ(waits[3]->how(), ending::stopped);
}

}  // namespace
}  // namespace eddy::test::semaphore_test
