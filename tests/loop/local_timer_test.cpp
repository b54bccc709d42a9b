// SPDX-License-Identifier: Apache-2.0
#include "loop/allocations.hpp"
#include "loop/loop_fixture.hpp"

#include <eddy/loop/local_timer.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <poll.h>

namespace eddy::test::local_timer_test {
namespace {

class local_alarm : public local_timer {
public:
    explicit local_alarm(loop& home, std::function<void()> run = {})
        : local_timer(home, &on_run), run_(std::move(run)) {}

    int runs = 0;

private:
    static void on_run(local_timer& t) noexcept {
        auto& self = static_cast<local_alarm&>(t);
        ++self.runs;
        if (const auto run = self.run_) {  // a copy: it may destroy the timer
            run();
        }
    }

    std::function<void()> run_;
};

class LoopLocalTimer : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopLocalTimer);

TEST_P(LoopLocalTimer, FiresOnceAndNotEarly) {
    time_point fired;
    local_alarm ring(loop(), [&] { fired = clock::now(); });
    const auto when = clock::now() + 3ms;
    loop().post_at(when, ring);
    EXPECT_TRUE(ring.armed());
    EXPECT_FALSE(loop().empty());
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_GE(fired, when);
    EXPECT_EQ(ring.runs, 1);
    EXPECT_FALSE(ring.armed());
    EXPECT_EQ(loop().counters().timers_fired, 1U);
}

TEST_P(LoopLocalTimer, EqualDeadlinesFireInTheOrderInWhichTheyWereSetOfWhateverKind) {
    std::vector<int> order;
    local_alarm first(loop(), [&] { order.push_back(1); });
    alarm second(loop(), [&] { order.push_back(2); });
    local_alarm third(loop(), [&] { order.push_back(3); });
    local_alarm fourth(loop(), [&] { order.push_back(4); });
    job set([&] {
        const auto when = clock::now() + 2ms;
        loop().post_at(when - 1ms, fourth);
        loop().post_at(when, first);
        loop().post_at(when, third);
        loop().post_at(when, second);
        loop().post_at(when, fourth);  // to later
        loop().post_at(when, third);   // not later: behind the others all the same
    });
    loop().post(set);
    EXPECT_EQ(loop().run(run_mode::empty), 5U);
    EXPECT_EQ(order, (std::vector{1, 2, 4, 3}));
}

TEST_P(LoopLocalTimer, CanBeMovedLaterAndEarlier) {
    time_point fired_later;
    local_alarm later(loop(), [&] { fired_later = clock::now(); });
    local_alarm earlier(loop());
    const auto begin = clock::now();
    loop().post_at(begin + 1ms, later);
    loop().post_at(begin + 1h, earlier);
    loop().post_at(begin + 5ms, later);
    loop().post_at(begin + 1ms, earlier);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_GE(fired_later, begin + 5ms);
    EXPECT_EQ(earlier.runs, 1);
}

TEST_P(LoopLocalTimer, OneThatIsDueAndSetAnewFiresOnceAtItsNewTime) {
    local_alarm due(loop());
    time_point fired;
    local_alarm moved(loop(), [&] { fired = clock::now(); });
    const auto begin = clock::now();
    due.set_priority(0);
    local_alarm mover(loop(), [&] { loop().post_at(begin + 5ms, moved); });
    mover.set_priority(1);
    loop().post_at(begin, due);
    loop().post_at(begin, mover);
    loop().post_at(begin, moved);
    EXPECT_EQ(loop().run(run_mode::empty), 3U);
    EXPECT_EQ(moved.runs, 1);
    EXPECT_GE(fired, begin + 5ms);
}

TEST_P(LoopLocalTimer, OneThatIsDisarmedDoesNotFire) {
    local_alarm far(loop());
    local_alarm due(loop());
    EXPECT_FALSE(loop().disarm(far));
    loop().post_after(1h, far);
    EXPECT_TRUE(loop().disarm(far));
    EXPECT_FALSE(far.armed());
    EXPECT_FALSE(loop().disarm(far));
    local_alarm first(loop(), [&] { EXPECT_TRUE(loop().disarm(due)); });
    loop().post_at(clock::now(), first);
    loop().post_at(clock::now(), due);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(due.runs, 0);
    EXPECT_TRUE(loop().empty());
}

TEST_P(LoopLocalTimer, MayBeSetAgainOrDestroyedByItsOwnCallback) {
    local_alarm* self = nullptr;
    local_alarm again(loop(), [&] {
        if (self->runs < 3) {
            loop().post_after(100us, *self);
        }
    });
    self = &again;
    std::unique_ptr<local_alarm> gone;
    gone = std::make_unique<local_alarm>(loop(), [&] { gone.reset(); });
    loop().post_after(0ns, again);
    loop().post_after(0ns, *gone);
    EXPECT_EQ(loop().run(run_mode::empty), 4U);
    EXPECT_EQ(again.runs, 3);
    EXPECT_EQ(gone, nullptr);
}

TEST_P(LoopLocalTimer, TheEndOfTheLoopTakesItBackAndNothingIsSetFromThenOn) {
    local_alarm far(loop());
    local_alarm late(loop());
    alarm told(loop(), {}, [&] { loop().post_after(0ns, late); });
    loop().post_after(1h, far);
    loop().post_after(1h, told);
    loop().stop();
    EXPECT_EQ(loop().run(run_mode::drained), 1U);
    EXPECT_EQ(far.runs, 0);
    EXPECT_FALSE(far.armed());
    EXPECT_EQ(told.cancels, 1);
    EXPECT_FALSE(late.armed());
    EXPECT_TRUE(loop().empty());
    loop().post_after(0ns, late);  // the next run is as the first
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(late.runs, 1);
}

TEST_P(LoopLocalTimer, MayOutliveTheLoopThatTookItBack) {
    auto mine = std::make_unique<eddy::loop>();
    local_alarm far(*mine);
    mine->post_after(1h, far);
    mine.reset();
    EXPECT_FALSE(far.armed());
    EXPECT_EQ(far.runs, 0);
}

TEST_P(LoopLocalTimer, KeepsTheLoopAliveAndIsListed) {
    local_alarm far(loop());
    loop().post_after(1h, far);
    int found = 0;
    loop().for_each_live([&](const live_operation&) { ++found; });
    EXPECT_EQ(found, 1);
    EXPECT_TRUE(loop().disarm(far));
}

TEST_P(LoopLocalTimer, SettingItAllocatesNothing) {
    std::vector<std::unique_ptr<local_alarm>> rings;
    for (int i = 0; i != 100; ++i) {
        rings.push_back(std::make_unique<local_alarm>(loop()));
    }
    const auto when = clock::now() + 1h;
    const auto before = allocations();
    for (auto& ring : rings) {
        loop().post_at(when, *ring);
        loop().post_at(when + 1h, *ring);
        loop().post_at(when - 1min, *ring);
    }
    for (auto& ring : rings) {
        loop().disarm(*ring);
    }
    EXPECT_EQ(allocations(), before);
}

TEST_P(LoopLocalTimer, TheNativeHandleReportsOneThatWasSetWhileTheLoopDidNotRun) {
    if (loop().engine() == engine_kind::poll) {
        GTEST_SKIP() << "has no such handle";
    }
    const int handle = loop().native_handle();
    loop().poll();
    pollfd waiter{handle, POLLIN, 0};
    ASSERT_EQ(::poll(&waiter, 1, 0), 0);
    local_alarm ring(loop());
    loop().post_after(1h, ring);
    EXPECT_EQ(::poll(&waiter, 1, 0), 1);
    loop().poll();
    ASSERT_EQ(::poll(&waiter, 1, 0), 0);
    loop().post_after(1ms, ring);  // to earlier
    EXPECT_EQ(::poll(&waiter, 1, 0), 1);
    EXPECT_TRUE(loop().disarm(ring));
}

}  // namespace
}  // namespace eddy::test::local_timer_test
