// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "loop/loop_fixture.hpp"

#include <cerrno>
#include <thread>

namespace eddy::test::system_timer_test {
namespace {

using std::chrono::system_clock;

class SystemTimer : public LoopTest {};
EDDY_ON_EVERY_ENGINE(SystemTimer);

TEST_P(SystemTimer, FiresOnceAndNotEarly) {
    system_time_point fired;
    alarm ring(loop(), [&] { fired = system_clock::now(); }, {}, timer_clock::system);
    const auto when = system_clock::now() + 3ms;
    loop().post_at(when, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_GE(fired, when);
    EXPECT_TRUE(loop().empty());
}

TEST_P(SystemTimer, OneRunOfOneIsOneTimerOfTheUser) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    loop().post_at(system_clock::now() + 1ms, ring);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(ring.runs, 1);
    EXPECT_EQ(loop().counters().completions, 1U);
}

TEST_P(SystemTimer, ATimeInThePastFiresAtOnce) {
    alarm past(loop(), {}, {}, timer_clock::system);
    alarm least(loop(), {}, {}, timer_clock::system);
    loop().post_at(system_clock::now() - 1h, past);
    loop().post_at(system_time_point::min(), least);
    EXPECT_TRUE(until([&] { return past.runs + least.runs == 2; }));
}

TEST_P(SystemTimer, ATimeAtTheClocksMaximumNeverFires) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    loop().post_at(system_time_point::max(), ring);
    EXPECT_EQ(loop().run_for(2ms), 0U);
    EXPECT_TRUE(loop().disarm(ring));
}

TEST_P(SystemTimer, SeveralFireInTheirOrderAndCanBeMovedAndCancelled) {
    std::vector<int> order;
    alarm a(loop(), [&] { order.push_back(1); }, {}, timer_clock::system);
    alarm b(loop(), [&] { order.push_back(2); }, {}, timer_clock::system);
    alarm c(loop(), [&] { order.push_back(3); }, {}, timer_clock::system);
    const auto now = system_clock::now();
    loop().post_at(now + 1h, a);
    loop().post_at(now + 3ms, b);
    loop().post_at(now + 4ms, c);
    loop().poll();
    loop().post_at(now + 1ms, a);
    loop().cancel(c);
    loop().run(run_mode::empty);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_EQ(c.cancels, 1);
}

TEST_P(SystemTimer, AnIntervalRepeats) {
    alarm* self = nullptr;
    alarm ring(
        loop(), [&] { self->runs == 3 ? static_cast<void>(loop().disarm(*self)) : void(); }, {},
        timer_clock::system);
    self = &ring;
    ring.set_interval(1ms);
    loop().post_at(system_clock::now(), ring);
    EXPECT_EQ(loop().run(run_mode::empty), 3U);
}

TEST_P(SystemTimer, AnotherThreadSetsOne) {
    alarm ring(loop(), [&] { loop().stop(); }, {}, timer_clock::system);
    std::thread other([&] { loop().post_at(system_clock::now() + 1ms, ring); });
    EXPECT_EQ(loop().run(), 1U);
    other.join();
}

TEST_P(SystemTimer, ALoopThatHadOneIsStillEmptyAndQuiet) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    EXPECT_TRUE(loop().empty());
    loop().post_at(system_clock::now(), ring);
    loop().run(run_mode::empty);
    int live = 0;
    loop().for_each_live([&](const live_operation&) { ++live; });
    EXPECT_EQ(live, 0);
    // One that does not sleep makes tens of thousands; a wait that ends a little early, on a
    // crowded machine again and again, a few.
    EXPECT_LT(turns_in(20ms), 1000U);
}

TEST_P(SystemTimer, ALoopOfAnotherThreadIsDestroyedHereAfterItWasDrained) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    loop().post_at(system_clock::now() + 1h, ring);
    std::thread([&] {
        loop().stop();
        loop().run(run_mode::drained);
    }).join();
    EXPECT_EQ(ring.cancels, 1);
    end_loop();
}

TEST_P(SystemTimer, CanBeSetAgainToATimeThatCameWhenTheLoopWasDrained) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    const auto when = system_clock::now() + 5ms;
    loop().post_at(when, ring);
    loop().poll();
    std::this_thread::sleep_until(when + 1ms);  // an engine that reads by itself has read it
    loop().post([this] { loop().stop(); });
    loop().run(run_mode::drained);
    EXPECT_EQ(ring.runs + ring.cancels, 1);
    ring.runs = 0;
    loop().post_at(when, ring);
    EXPECT_TRUE(until([&] { return ring.runs == 1; }));
    loop().disarm(ring);
}

class SystemClockSet : public LoopTest {};
EDDY_ON_READINESS_ENGINES(SystemClockSet);

TEST_P(SystemClockSet, WhenTheClockWasSetTheDeadlinesAreLookedAtAgain) {
    // The kernel tells of it by ECANCELED. Nothing is due then, and the timer must stay set.
    alarm ring(loop(), {}, {}, timer_clock::system);
    kernel::fail(kernel::call::read, ECANCELED);
    loop().post_at(system_clock::now() + 3ms, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(ring.runs, 1);
}

TEST(SystemTimerMaking, WithoutATimerfdTheConstructorThrows) {
    loop l({.engine = engine_kind::epoll});
    kernel::fail(kernel::call::timerfd, EMFILE);
    EXPECT_THROW(alarm(l, {}, {}, timer_clock::system), std::system_error);
    kernel::fail_nothing();
    const alarm works(l, {}, {}, timer_clock::system);
}

}  // namespace
}  // namespace eddy::test::system_timer_test
