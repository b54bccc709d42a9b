// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "loop/loop_fixture.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include <sys/prctl.h>

namespace eddy::test::timer_test {
namespace {

class LoopTimer : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopTimer);

/// Keeps the loop, and so its clock, where it is for that long.
void be_busy_for(duration time) {
    const auto end = clock::now() + time;
    while (clock::now() < end) {}
}

TEST_P(LoopTimer, FiresOnceAndNotEarly) {
    time_point fired;
    alarm ring(loop(), [&] { fired = clock::now(); });
    const auto when = clock::now() + 3ms;
    loop().post_at(when, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_GE(fired, when);
    EXPECT_EQ(ring.runs, 1);
    EXPECT_EQ(ring.expirations(), 1U);
    EXPECT_FALSE(ring.armed());
    EXPECT_EQ(loop().counters().timers_fired, 1U);
}

TEST_P(LoopTimer, AThousandAtRandomAreInOrderAndNeverEarly) {
    const random_numbers random;
    auto numbers = random.for_thread(0);
    struct item {
        std::unique_ptr<alarm> ring;
        time_point when;
    };
    std::vector<item> items(1000);
    time_point last = time_point::min();
    const auto begin = clock::now();
    for (item& one : items) {
        one.when = begin + duration(numbers() % 20'000'000);
        one.ring = std::make_unique<alarm>(loop(), [&one, &last] {
            EXPECT_GE(clock::now(), one.when);
            EXPECT_GE(one.when, last);
            last = one.when;
        });
        loop().post_at(one.when, *one.ring);
    }
    EXPECT_EQ(loop().run(run_mode::empty), 1000U);
}

TEST_P(LoopTimer, EqualDeadlinesFireInTheOrderInWhichTheyWereSet) {
    std::vector<int> order;
    std::vector<std::unique_ptr<alarm>> rings;
    for (int i = 0; i != 50; ++i) {
        rings.push_back(std::make_unique<alarm>(loop(), [&order, i] { order.push_back(i); }));
    }
    job set([&] {
        const auto when = clock::now() + 1ms;
        for (auto& ring : rings) {
            loop().post_at(when, *ring);
        }
        loop().post_at(when, *rings[7]);  // set again: behind the others
    });
    loop().post(set);
    EXPECT_EQ(loop().run(run_mode::empty), 51U);
    ASSERT_EQ(order.size(), 50U);
    EXPECT_EQ(order[7], 8);
    EXPECT_EQ(order.back(), 7);
}

TEST_P(LoopTimer, AHundredOneNanosecondApartFireInOrderHoweverTheyAreSet) {
    for (const bool backwards : {false, true}) {
        std::vector<int> order;
        std::vector<std::unique_ptr<alarm>> rings;
        for (int i = 0; i != 100; ++i) {
            rings.push_back(std::make_unique<alarm>(loop(), [&order, i] { order.push_back(i); }));
        }
        const auto first = clock::now() + 1ms;
        for (int i = 0; i != 100; ++i) {
            const int number = backwards ? 99 - i : i;
            loop().post_at(first + duration(number), *rings[static_cast<std::size_t>(number)]);
        }
        EXPECT_EQ(loop().run(run_mode::empty), 100U);
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
}

TEST_P(LoopTimer, TimersThatTheLoopMovesLaterFireInTheOrderOfTheMoves) {
    std::vector<int> order;
    const auto begin = clock::now();
    alarm first(loop(), [&] { order.push_back(1); });
    alarm second(loop(), [&] { order.push_back(2); });
    alarm third(loop(), [&] { order.push_back(3); });
    const auto when = begin + 3ms;
    job mover([&] {
        loop().post_at(begin + 1ms, first);
        loop().post_at(begin + 1ms, second);
        loop().post_at(begin + 2ms, second);
        loop().post_at(when, second);
        loop().post_at(when, third);
        loop().post_at(when, first);
        loop().post_at(when, second);  // not later: behind the others all the same
    });
    loop().post(mover);
    EXPECT_EQ(loop().run(run_mode::empty), 4U);
    EXPECT_GE(clock::now(), when);
    EXPECT_EQ(order, (std::vector{3, 1, 2}));
}

TEST_P(LoopTimer, MovingLaterDoesNotSaveATimerThatIsCancelled) {
    alarm ring(loop());
    job mover([&] {
        loop().post_at(clock::now() + 1h, ring);
        loop().cancel(ring);
        loop().post_at(clock::now() + 2h, ring);
    });
    loop().post(mover);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(ring.runs, 0);
    EXPECT_EQ(ring.cancels, 1);
    EXPECT_FALSE(ring.armed());
}

TEST_P(LoopTimer, ALoneTimerCanBeMovedLater) {
    time_point fired;
    alarm ring(loop(), [&] { fired = clock::now(); });
    const auto begin = clock::now();
    loop().post_at(begin + 1ms, ring);
    loop().poll();
    loop().post_at(begin + 6ms, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_GE(fired, begin + 6ms);
}

TEST_P(LoopTimer, ALoneTimerCanBeMovedEarlier) {
    alarm ring(loop());
    loop().post_after(1h, ring);
    loop().poll();
    loop().post_after(1ms, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
}

TEST_P(LoopTimer, ATimerOfTheSameBatchCanBeMovedByACallback) {
    alarm second(loop());
    alarm first(loop(), [&] { loop().post_after(1h, second); });
    const auto when = clock::now();
    loop().post_at(when, first);
    loop().post_at(when, second);
    EXPECT_EQ(loop().run(run_mode::stopped, {.until = when + 5ms}), 1U);
    EXPECT_TRUE(second.armed());
    EXPECT_EQ(second.runs, 0);
    loop().disarm(second);
}

TEST_P(LoopTimer, ADeadlineInThePastFiresAtOnce) {
    alarm past(loop());
    alarm least(loop());
    loop().post_at(clock::now() - 1h, past);
    loop().post_at(time_point::min(), least);
    EXPECT_EQ(loop().poll(), 2U);
}

TEST_P(LoopTimer, ADeadlineAtTheBeginningOfTheClockFiresAtOnceWhoeverSetIt) {
    for (int ns = -1; ns != 4; ++ns) {
        const time_point when{duration(ns)};
        alarm here(loop());
        alarm moved(loop());
        alarm from_outside(loop());
        loop().post([&] {
            loop().post_at(when, here);
            loop().post_after(1h, moved);
            loop().post_at(when, moved);
        });
        std::thread([&] { loop().post_at(when, from_outside); }).join();
        loop().run(run_mode::empty, {.until = clock::now() + 10s});
        EXPECT_EQ(here.runs + moved.runs + from_outside.runs, 3) << ns;
        EXPECT_EQ(moved.cancels + from_outside.cancels, 0) << ns;
    }
}

TEST_P(LoopTimer, ADeadlineAtTheClocksMaximumNeverFires) {
    alarm ring(loop());
    loop().post_at(time_point::max(), ring);
    EXPECT_EQ(loop().run_for(2ms), 0U);
    EXPECT_TRUE(ring.armed());
    loop().post_after(duration::max(), ring);
    EXPECT_EQ(loop().run_for(1ms), 0U);
    EXPECT_TRUE(loop().disarm(ring));
}

TEST_P(LoopTimer, ATimerCanBeSetAgainInItsCallback) {
    alarm* self = nullptr;
    alarm ring(loop(), [&] {
        if (self->runs < 5) {
            loop().post_after(100us, *self);
        }
    });
    self = &ring;
    loop().post_after(100us, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 5U);
}

TEST_P(LoopTimer, ATimerCanBeDestroyedInItsCallbacks) {
    int ended = 0;
    for (const bool cancel : {false, true}) {
        alarm* ring = nullptr;
        const auto end = [&] {
            ++ended;
            delete ring;
        };
        ring = new alarm(loop(), end, end);
        loop().post_after(0ns, *ring);
        if (cancel) {
            loop().cancel(*ring);
        }
        loop().run(run_mode::empty);
    }
    EXPECT_EQ(ended, 2);
}

TEST_P(LoopTimer, CancelEndsInOnCancelInEveryState) {
    alarm idle(loop());
    alarm armed(loop());
    alarm due(loop());
    job first([&] {  // `due` is in the ready queue behind this
        loop().cancel(due);
        loop().cancel(due);
    });
    first.set_priority(0);
    loop().post_after(1h, armed);
    loop().post_after(0ns, due);
    loop().post(first);
    loop().cancel(idle);
    loop().cancel(armed);
    EXPECT_EQ(loop().run(run_mode::empty), 4U);
    for (const alarm* a : {&idle, &armed, &due}) {
        EXPECT_EQ(a->runs, 0);
        EXPECT_EQ(a->cancels, 1);
        EXPECT_FALSE(a->armed());
    }
}

TEST_P(LoopTimer, CancellingOneOfTwoEqualDeadlinesLeavesTheOther) {
    alarm a(loop());
    alarm b(loop());
    const auto when = clock::now() + 1ms;
    loop().post_at(when, a);
    loop().post_at(when, b);
    loop().cancel(a);
    loop().run(run_mode::empty);
    EXPECT_EQ(a.cancels, 1);
    EXPECT_EQ(b.runs, 1);
}

TEST_P(LoopTimer, NothingHappensToATimerWhoseOnCancelIsStillToCome) {
    alarm ring(loop());
    job work([&] {
        loop().cancel(ring);
        loop().post_after(0ns, ring);
    });
    loop().post(work);
    loop().run(run_mode::empty);
    EXPECT_EQ(ring.runs, 0);
    EXPECT_EQ(ring.cancels, 1);
}

TEST_P(LoopTimer, ACancelledTimerCanBeSetAgainInOnCancel) {
    alarm* self = nullptr;
    alarm ring(loop(), {}, [&] { loop().post_after(1ms, *self); });
    self = &ring;
    loop().cancel(ring);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(ring.runs, 1);
}

TEST_P(LoopTimer, DisarmTakesItBackWithoutACallback) {
    alarm armed(loop());
    alarm due(loop());
    alarm cancelled(loop());
    job work([&] {
        EXPECT_TRUE(loop().disarm(armed));
        EXPECT_TRUE(loop().disarm(due));
        loop().cancel(cancelled);
        EXPECT_TRUE(loop().disarm(cancelled));
        EXPECT_FALSE(loop().disarm(armed));
    });
    work.set_priority(0);
    loop().post_after(1h, armed);
    loop().post_after(0ns, due);
    loop().post_after(1h, cancelled);
    loop().post(work);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(armed.runs + armed.cancels + due.runs + due.cancels + cancelled.cancels, 0);
}

TEST_P(LoopTimer, DisarmBeforeTheRunSeesWhatWasSetBefore) {
    alarm ring(loop());
    loop().post_after(0ns, ring);
    EXPECT_TRUE(loop().disarm(ring));
    EXPECT_FALSE(loop().disarm(ring));
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
}

TEST_P(LoopTimer, ACallbackDestroysAnotherTimerAndEntryOfTheSameBatch) {
    auto victim = std::make_unique<alarm>(loop());
    alarm killer(loop(), [&] {
        EXPECT_TRUE(loop().disarm(*victim));
        victim.reset();
    });
    const auto when = clock::now();
    loop().post_at(when, killer);
    loop().post_at(when, *victim);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
}

TEST_P(LoopTimer, AnIntervalFiresAtMultiplesOfItsFirstDeadline) {
    std::vector<time_point> fired;
    alarm* self = nullptr;
    alarm ring(loop(), [&] {
        fired.push_back(clock::now());
        EXPECT_TRUE(self->armed());
        if (self->runs == 4) {
            loop().disarm(*self);
        }
    });
    self = &ring;
    ring.set_interval(2ms);
    const auto first = clock::now() + 1ms;
    loop().post_at(first, ring);
    std::uint64_t passed = 0;
    while (!loop().empty()) {
        passed += loop().run_one() != 0 ? ring.expirations() : 0;
    }
    ASSERT_EQ(fired.size(), 4U);
    EXPECT_GE(fired.back(), first + (passed - 1) * 2ms);
}

TEST_P(LoopTimer, AnIntervalCountsWhatPassedWhileTheLoopWasBusy) {
    alarm ring(loop());
    ring.set_interval(1ms);
    job busy([&] { be_busy_for(10ms); });
    loop().post_after(1ms, ring);
    loop().post(busy);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(ring.runs, 1);
    EXPECT_GE(ring.expirations(), 9U);
    loop().disarm(ring);
}

TEST_P(LoopTimer, AnIntervalFromTheClocksMinimumGoesOnFromNow) {
    alarm ring(loop());
    ring.set_interval(1h);
    loop().post_at(time_point::min(), ring);
    EXPECT_EQ(loop().poll(), 1U);
    EXPECT_GT(ring.expirations(), 1'000'000U);
    EXPECT_GT(loop().next_deadline(), clock::now());
    EXPECT_LE(loop().next_deadline(), clock::now() + 1h);
    loop().disarm(ring);
}

TEST_P(LoopTimer, AnIntervalOfTheClocksWidthDoesNotWrap) {
    alarm ring(loop());
    ring.set_interval(duration::max());
    loop().post_after(0ns, ring);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(loop().run_for(1ms), 0U);
    loop().disarm(ring);
}

TEST_P(LoopTimer, CancellingAnIntervalInItsCallbackEndsIt) {
    alarm* self = nullptr;
    alarm ring(loop(), [&] { loop().cancel(*self); });
    self = &ring;
    ring.set_interval(100us);
    loop().post_after(0ns, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(ring.runs, 1);
    EXPECT_EQ(ring.cancels, 1);
}

TEST_P(LoopTimer, SettingMovingCancellingAndFiringAllocateNothing) {
    constexpr int count = 100;
    std::vector<std::unique_ptr<timer>> timers;
    for (int i = 0; i != count; ++i) {
        timers.push_back(std::make_unique<timer>(loop(), [](timer&) noexcept {}));
    }
    loop().poll();
    const auto before = allocations();
    for (int round = 0; round != 3; ++round) {
        for (auto& t : timers) {
            loop().post_after(1h, *t);
            loop().post_after(round == 0 ? 2h : 0ns, *t);
        }
        loop().poll();
        for (auto& t : timers) {
            loop().cancel(*t);
        }
        loop().run(run_mode::empty);
    }
    EXPECT_EQ(allocations(), before);
}

TEST_P(LoopTimer, ATimerMayOutliveItsLoop) {
    std::unique_ptr<alarm> idle = std::make_unique<alarm>(loop());
    std::unique_ptr<alarm> armed = std::make_unique<alarm>(loop());
    std::unique_ptr<alarm> system =
        std::make_unique<alarm>(loop(), nullptr, nullptr, timer_clock::system);
    loop().post_after(1h, *armed);
    loop().post_at(std::chrono::system_clock::now() + 1h, *system);
    end_loop();
    EXPECT_EQ(idle->cancels, 0);
    EXPECT_EQ(armed->cancels, 1);
    EXPECT_EQ(system->cancels, 1);
}

TEST_P(LoopTimer, NextDeadlineIsRightAtAnyMoment) {
    alarm a(loop());
    alarm b(loop());
    const auto now = clock::now();
    EXPECT_EQ(loop().next_deadline(), never);
    loop().post_at(now + 2h, a);
    EXPECT_EQ(loop().next_deadline(), now + 2h);
    loop().post_at(now + 1h, b);
    EXPECT_EQ(loop().next_deadline(), now + 1h);
    loop().post_at(now + 3h, b);  // only written down in the node
    EXPECT_EQ(loop().next_deadline(), now + 2h);
    job inside([&] {
        EXPECT_EQ(loop().next_deadline(), now + 2h);
        loop().disarm(a);
        EXPECT_EQ(loop().next_deadline(), now + 3h);
    });
    loop().post(inside);
    loop().poll();
    loop().cancel(b);
    loop().poll();
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(LoopTimer, NextDeadlineKnowsTheDeadlinesOfOperations) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder reading;
    const auto when = clock::now() + 1h;
    start(reading, read(from, bytes(buffer)), when);
    EXPECT_EQ(loop().next_deadline(), when);
    loop().cancel(reading.operation());
    ends(reading);
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(LoopTimer, TheLoopsTimeInACallbackIsNotOlderThanTheWait) {
    const auto when = clock::now() + 5ms;
    time_point seen;
    alarm ring(loop(), [&] { seen = loop().now(); });
    loop().post_at(when, ring);
    loop().run(run_mode::empty);
    EXPECT_GE(seen, when);
    EXPECT_LE(seen, clock::now());
}

TEST_P(LoopTimer, TheLoopsTimeStandsStillWithinATurn) {
    job work([&] {
        const auto first = loop().now();
        be_busy_for(100us);
        EXPECT_EQ(loop().now(), first);
    });
    loop().post(work);
    loop().run(run_mode::empty);
}

TEST_P(LoopTimer, OutsideARunTheLoopsTimeIsTheClocks) {
    loop().poll();
    const auto before = clock::now();
    EXPECT_GE(loop().now(), before);
    be_busy_for(100us);
    EXPECT_GE(loop().now(), before + 100us);
}

TEST_P(LoopTimer, SlackIsSetWhileTheLoopRunsAndRestoredAfterwards) {
    make_loop({.timer_slack = 12345ns});
    const int before = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    int inside = 0;
    job look([&] { inside = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
    loop().post(look);
    loop().poll();
    EXPECT_EQ(inside, 12345);
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), before);
}

TEST_P(LoopTimer, NoSlackIsTheLeastSlackAndNotTheDefault) {
    make_loop({.timer_slack = 0ns});
    int inside = 0;
    job look([&] { inside = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
    loop().post(look);
    loop().poll();
    EXPECT_EQ(inside, 1);
}

TEST_P(LoopTimer, WithoutTheOptionTheSlackIsLeftAlone) {
    const int before = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    int inside = 0;
    job look([&] { inside = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); });
    loop().post(look);
    loop().poll();
    EXPECT_EQ(inside, before);
}

}  // namespace
}  // namespace eddy::test::timer_test
