// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"
#include "support/random.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::timer_threads_test {
namespace {

class LoopTimerThreads : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopTimerThreads);

TEST_P(LoopTimerThreads, AnotherThreadSetsATimerOfALoopThatWaits) {
    alarm ring(loop(), [&] { loop().stop(); });
    std::thread other([&] { loop().post_after(1ms, ring); });
    EXPECT_EQ(loop().run(), 1U);
    other.join();
}

TEST_P(LoopTimerThreads, AnotherThreadMovesATimerEarlier) {
    std::atomic<bool> running = false;
    alarm ring(loop(), [&] { loop().stop(); });
    job tell([&] { running = true; });
    loop().post_after(1h, ring);
    loop().post(tell);
    std::thread other([&] {
        while (!running) {
            std::this_thread::yield();
        }
        loop().post_after(0ns, ring);
    });
    EXPECT_EQ(loop().run(), 2U);
    other.join();
}

TEST_P(LoopTimerThreads, OfSeveralDeadlinesTheLastOneCounts) {
    alarm ring(loop());
    std::thread([&] {
        loop().post_after(0ns, ring);
        loop().post_after(1h, ring);
        loop().post_after(2h, ring);
    }).join();
    EXPECT_EQ(loop().poll(), 0U);
    EXPECT_GT(loop().next_deadline(), clock::now() + 90min);
    loop().disarm(ring);
}

TEST_P(LoopTimerThreads, WhatTheLoopWantsCountsMoreThanWhatAnotherThreadWantedBefore) {
    alarm ring(loop(), [&] { loop().stop(); });
    job set([&] {
        std::thread([&] { loop().post_after(1h, ring); }).join();
        loop().post_after(0ns, ring);
    });
    loop().post(set);
    EXPECT_EQ(loop().run(run_mode::stopped, {.until = clock::now() + patience}), 2U);
    EXPECT_EQ(ring.runs, 1);
    loop().disarm(ring);
}

TEST_P(LoopTimerThreads, NothingComesAfterACancellationButItsOnCancel) {
    alarm ring(loop());
    std::thread([&] {
        loop().cancel(ring);
        loop().post_after(0ns, ring);
        loop().cancel(ring);
    }).join();
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(ring.cancels, 1);
}

TEST_P(LoopTimerThreads, ACancelThatMeetsAnotherThreadsCommandWaitsForIt) {
    // The other thread's command is in the inbox when on_cancel would be due: on_cancel destroys
    // the timer, so it has to come after the command has left.
    int cancelled = 0;
    alarm* ring = nullptr;
    ring = new alarm(loop(), {}, [&] {
        ++cancelled;
        delete ring;
    });
    job first([&] {
        loop().cancel(*ring);
        std::thread([&] { loop().post_after(1h, *ring); }).join();
    });
    loop().post(first);
    loop().run(run_mode::empty);
    EXPECT_EQ(cancelled, 1);
}

/// Each timer is set and moved by two threads, and then cancelled by one of them. It is freed in
/// its on_cancel, so anything that touches it later is a use after free.
TEST_P(LoopTimerThreads, SettingMovingAndCancellingRaceWithFiring) {
    const random_numbers random;
    constexpr int count = 600;
    std::atomic<int> cancelled = 0;
    struct owned : timer {
        owned(eddy::loop& home, std::atomic<int>& total)
            : timer(home, &fired, &ended), cancelled(total) {}
        static void fired(timer&) noexcept {}
        static void ended(timer& t) noexcept {
            auto& self = static_cast<owned&>(t);
            self.cancelled.fetch_add(1);
            delete &self;
        }
        std::atomic<int>& cancelled;
    };
    std::vector<owned*> timers;
    for (int i = 0; i != count; ++i) {
        timers.push_back(new owned(loop(), cancelled));
    }
    const auto set_some = [&](std::mt19937_64& numbers, owned& t) {
        for (auto times = numbers() % 4; times != 0; --times) {
            loop().post_after(duration(numbers() % 50'000), t);
        }
    };
    // Thread 0 is through with a timer before thread 1 may cancel it.
    std::atomic<int> through = 0;
    std::thread first([&] {
        auto numbers = random.for_thread(0);
        for (owned* t : timers) {
            set_some(numbers, *t);
            through.fetch_add(1);
        }
    });
    std::thread second([&] {
        auto numbers = random.for_thread(1);
        for (int i = 0; i != count; ++i) {
            owned& t = *timers[static_cast<std::size_t>(i)];
            set_some(numbers, t);
            while (through <= i) {
                std::this_thread::yield();
            }
            loop().cancel(t);
        }
    });
    EXPECT_TRUE(until([&] { return cancelled == count; }));
    first.join();
    second.join();
    EXPECT_EQ(cancelled, count);
}

TEST_P(LoopTimerThreads, RoomIsReservedFromSeveralThreadsWhileTheLoopRuns) {
    const random_numbers random;
    constexpr int threads = 3;
    constexpr int each = 300;
    std::atomic<int> fired = 0;
    std::vector<std::thread> makers;
    std::vector<std::vector<std::unique_ptr<alarm>>> made(threads);
    for (unsigned i = 0; i != threads; ++i) {
        makers.emplace_back([&, i] {
            auto numbers = random.for_thread(i);
            for (int n = 0; n != each; ++n) {
                made[i].push_back(std::make_unique<alarm>(loop(), [&] { ++fired; }));
                loop().post_after(duration(numbers() % 1'000'000), *made[i].back());
                if (numbers() % 3 == 0) {
                    const alarm unused(loop());
                }
            }
        });
    }
    EXPECT_TRUE(until([&] { return fired == threads * each; }));
    for (auto& thread : makers) {
        thread.join();
    }
}

}  // namespace
}  // namespace eddy::test::timer_threads_test
