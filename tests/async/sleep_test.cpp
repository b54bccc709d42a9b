// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/sleep.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/async/when_any.hpp>

namespace eddy::test::sleep_test {
namespace {

class Sleep : public TaskTest {};
EDDY_ON_EVERY_ENGINE(Sleep);

TEST_P(Sleep, LastsAsLongAsItWasAskedToAndEndsOnTheLoopOfItsTask) {
    const auto nap = [&]() -> task<duration> {
        const time_point begin = clock::now();
        co_await sleep_for(5ms);
        EXPECT_EQ(eddy::loop::current(), &loop());
        co_return clock::now() - begin;
    };
    EXPECT_GE(value_of(nap()), 5ms);
}

TEST_P(Sleep, BeginsWhenItIsStartedNotWhenItIsMade) {
    const auto nap = [&]() -> task<duration> {
        auto later = sleep_for(5ms);
        co_await sleep_for(5ms);
        const time_point begin = clock::now();
        co_await later;
        co_return clock::now() - begin;
    };
    EXPECT_GE(value_of(nap()), 5ms);
}

TEST_P(Sleep, UntilATimeEndsThenAndAtOnceIfThatHasPassed) {
    const auto nap = [&]() -> task<bool> {
        const time_point end = clock::now() + 5ms;
        co_await sleep_until(end);
        const bool late_enough = clock::now() >= end;
        co_await sleep_until(end - 1h);
        co_return late_enough;
    };
    EXPECT_TRUE(value_of(nap()));
}

TEST_P(Sleep, RunsOnALoopWithoutATask) {
    EXPECT_TRUE(loop().run(sleep_for(1ms)).has_value());
    int ended = 0;
    spawn(loop(), ex::then(sleep_for(1ms), [&] { ++ended; }));
    EXPECT_TRUE(until([&] { return ended == 1; }));
}

TEST_P(Sleep, EndsStoppedWhenItIsStopped) {
    const auto impatient = []() -> task<std::error_code> {
        const auto done = co_await as_result(timeout(sleep_for(1h), 1ms));
        co_return done.error();
    };
    EXPECT_EQ(value_of(impatient()), errc::timed_out);
    const auto race = []() -> task<int> {
        auto slow = sleep_for(1h) | ex::then([] { return 1; });
        auto fast = sleep_for(1ms) | ex::then([] { return 2; });
        co_return co_await when_any(std::move(slow), std::move(fast));
    };
    EXPECT_EQ(value_of(race()), 2);
}

TEST_P(Sleep, EndsWithTheLoop) {
    bool left = false;
    const auto sleeper = [&]() -> task<> {
        const at_exit exit([&] { left = true; });
        co_await sleep_for(1h);
        ADD_FAILURE() << "it must not go on";
    };
    spawn(loop(), sleeper());
    settle();
    EXPECT_FALSE(left);
    end_loop();
    EXPECT_TRUE(left);
}

TEST_P(Sleep, AwaitedOnAnotherLoopEndsOnThatOne) {
    eddy::loop other({.engine = GetParam()});
    const auto nap = [&]() -> task<> {
        co_await sleep_for(1ms);
        EXPECT_EQ(eddy::loop::current(), &other);
    };
    EXPECT_TRUE(other.run(nap()).has_value());
}

}  // namespace
}  // namespace eddy::test::sleep_test
