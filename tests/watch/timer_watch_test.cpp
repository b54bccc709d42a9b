// SPDX-License-Identifier: Apache-2.0
#include "watch/test_watch.hpp"

#include <memory>
#include <vector>

namespace eddy::test::timer_watch_test {
namespace {

class test_timer : public timer_watch {
public:
    explicit test_timer(loop& home, std::function<reaction(test_timer&)> function = {},
                        const watch_options& options = {}, timer_clock which = timer_clock::steady)
        : timer_watch(home, &expired, &gone, options, which), function_(std::move(function)) {}

    int calls = 0;
    int removals = 0;
    std::uint64_t count = 0;

private:
    static reaction expired(timer_watch& w) noexcept {
        auto& self = static_cast<test_timer&>(w);
        ++self.calls;
        self.count += w.expirations();
        return self.function_ ? self.function_(self) : reaction::rearm;
    }
    static void gone(timer_watch& w) noexcept { ++static_cast<test_timer&>(w).removals; }

    std::function<reaction(test_timer&)> function_;
};

class TimerWatch : public EngineTest {};
EDDY_ON_EVERY_ENGINE(TimerWatch);

TEST_P(TimerWatch, FiresOnceOrAtAnInterval) {
    test_timer once(loop());
    test_timer ticks(loop());
    once.set_after(1ms);
    ticks.set_after(1ms, 1ms);
    ASSERT_TRUE(until([&] { return ticks.count >= 5; }));
    EXPECT_EQ(once.calls, 1);
    EXPECT_EQ(once.count, 1U);
    EXPECT_FALSE(once.is_set());
    ticks.clear();
    EXPECT_FALSE(ticks.is_set());
}

TEST_P(TimerWatch, DisarmedCountsWhatExpiresAndTellsItWhenArmed) {
    test_timer ticks(loop(), {}, {.armed = false});
    const time_point begun = clock::now();
    ticks.set_at(begun + 1ms, 1ms);
    ASSERT_TRUE(until([&] { return clock::now() > begun + 20ms && ticks.expirations() >= 19; }));
    EXPECT_EQ(ticks.calls, 0);
    ticks.arm();
    ASSERT_TRUE(until([&] { return ticks.calls >= 1; }));
    EXPECT_GE(ticks.count, 19U);
    EXPECT_LE(ticks.calls, 3) << "all that had accumulated comes in one call";
}

TEST_P(TimerWatch, FollowsTheSystemClockToo) {
    test_timer w(loop(), {}, {}, timer_clock::system);
    w.set_after(1ms, 1ms);
    ASSERT_TRUE(until([&] { return w.count >= 3; }));
    w.set_at(std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()) - 1s);
    const auto before = w.count;
    ASSERT_TRUE(until([&] { return w.count == before + 1; }));
    EXPECT_FALSE(w.is_set());
}

TEST_P(TimerWatch, OfAPastDeadlineFiresAndCanBeSetAgainInside) {
    test_timer w(loop(), [](test_timer& self) {
        if (self.calls < 4) {
            self.set_at(clock::now() - 1s);
        }
        return reaction::rearm;
    });
    w.set_at(clock::now() - 1h);
    ASSERT_TRUE(until([&] { return w.calls == 4; }));
}

TEST_P(TimerWatch, HundredOneNanosecondApartFireInOrderHoweverTheyAreSet) {
    for (const bool forwards : {true, false}) {
        std::vector<int> order;
        std::vector<std::unique_ptr<test_timer>> timers;
        for (int i = 0; i != 100; ++i) {
            timers.push_back(std::make_unique<test_timer>(loop(), [&, i](test_timer&) {
                order.push_back(i);
                return reaction::rearm;
            }));
        }
        const time_point base = clock::now() + 2ms;
        for (int i = 0; i != 100; ++i) {
            const int which = forwards ? i : 99 - i;
            timers[static_cast<std::size_t>(which)]->set_at(base + duration(which));
        }
        ASSERT_TRUE(until([&] { return order.size() == 100; }));
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
}

TEST_P(TimerWatch, AloneCanBeMovedLaterAndEarlier) {
    test_timer w(loop());
    const time_point now = clock::now();
    w.set_at(now + 1ms);
    w.set_at(now + 30ms);
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_GE(clock::now(), now + 30ms);
    w.set_at(clock::now() + 1h);
    w.set_at(clock::now() + 1ms);
    ASSERT_TRUE(until([&] { return w.calls == 2; }));
}

TEST_P(TimerWatch, ThatIsSetAndClearedBetweenTwoRunsIsNotCalled) {
    static int calls;
    calls = 0;
    timer_watch w(loop(), [](timer_watch&) noexcept {
        ++calls;
        return reaction::rearm;
    });
    w.set_after(duration::zero());
    w.clear();
    settle();
    EXPECT_EQ(calls, 0);
    w.set_after(duration::zero());
    EXPECT_TRUE(until([] { return calls == 1; }));
}

TEST_P(TimerWatch, OneOfTwoEqualDeadlinesCanBeRemoved) {
    test_timer one(loop());
    test_timer two(loop());
    const time_point when = clock::now() + 1ms;
    one.set_at(when);
    two.set_at(when);
    one.remove();
    ASSERT_TRUE(until([&] { return two.calls == 1 && one.removals == 1; }));
    EXPECT_EQ(one.calls, 0);
}

TEST_P(TimerWatch, DueOnesAreQueuedByPriorityAndADisarmedOneIsNotCalled) {
    std::vector<int> order;
    test_timer* third = nullptr;
    const auto note = [&](int which) {
        return [&, which](test_timer&) {
            order.push_back(which);
            if (which == 1) {
                third->disarm();
            }
            return reaction::rearm;
        };
    };
    test_timer a(loop(), note(2), {.priority = 40});
    test_timer b(loop(), note(1), {.priority = 50});
    test_timer c(loop(), note(3), {.priority = 60});
    third = &c;
    b.set_priority(10);
    const time_point past = clock::now() - 1s;
    a.set_at(past);
    b.set_at(past);
    c.set_at(past);
    ASSERT_TRUE(until([&] { return order.size() == 2; }));
    settle();
    EXPECT_EQ(order, (std::vector{1, 2}));
    EXPECT_EQ(c.expirations(), 1U);
    c.arm();
    ASSERT_TRUE(until([&] { return c.calls == 1; }));
}

TEST_P(TimerWatch, ReactionsEndItOrCallItAgain) {
    test_timer w(loop(), [](test_timer& self) {
        return self.calls == 1 ? reaction::requeue : reaction::remove;
    });
    w.set_after(1ms, 1ms);
    ASSERT_TRUE(until([&] { return w.removals == 1; }));
    EXPECT_EQ(w.calls, 2);
    EXPECT_FALSE(w.is_set());
    std::unique_ptr<test_timer> itself;
    int calls = 0;
    itself = std::make_unique<test_timer>(loop(), [&](test_timer&) {
        ++calls;
        itself.reset();
        return reaction::destroyed;
    });
    itself->set_after(1ms, 1ms);
    ASSERT_TRUE(until([&] { return calls == 1; }));
}

}  // namespace
}  // namespace eddy::test::timer_watch_test
