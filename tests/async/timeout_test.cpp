// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "ex/support.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/event.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/run.hpp>

#include <memory>
#include <thread>

namespace eddy::test::timeout_test {
namespace {

using ex_testing::fragile;
using ex_testing::manual_event;

class Timeout : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Timeout);

TEST_P(Timeout, AnEventThatDoesNotHappenTimesOut) {
    event never_set;
    const auto begin = clock::now();
    try {
        loop().run(timeout(never_set.wait(), 10ms));
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), errc::timed_out);
    }
    EXPECT_GE(clock::now() - begin, 10ms);
}

TEST_P(Timeout, AValueInTimeIsTheResultAndLeavesNoTimer) {
    EXPECT_EQ(std::get<0>(loop().run(ex::just(3) | timeout(1h)).value()), 3);
    EXPECT_EQ(loop().next_deadline(), never);
    EXPECT_TRUE(loop().empty());
}

TEST_P(Timeout, ADeadlineInThePastStopsAtOnce) {
    event never_set;
    running wait(deadline(never_set.wait(), time_point::min()));
    wait.start_on(loop());
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_EQ(wait.seen.error, errc::timed_out);
    EXPECT_EQ(wait.seen.where, &loop());
}

TEST_P(Timeout, AStopOfTheWholeIsAStopAndNotATimeout) {
    event never_set;
    running wait(timeout(never_set.wait(), 1h));
    wait.start_on(loop());
    settle();
    wait.stop();
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_EQ(wait.how(), ending::stopped);
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(Timeout, AValueThatComesAfterTheTimeIsTheResultAllTheSame) {
    manual_event slow;
    slow.disobey();
    running wait(timeout(slow.wait(), 1ms));
    wait.start_on(loop());
    EXPECT_TRUE(until([&] { return slow.stop_seen(); }));
    EXPECT_FALSE(wait.ended());
    slow.value(4);
    EXPECT_EQ(wait.how(), ending::value);
    EXPECT_EQ(wait.seen.number, 4);
}

TEST_P(Timeout, AnErrorPasses) {
    running wait(timeout(ex::just_error(std::make_error_code(std::errc::io_error)), 1h));
    wait.start_on(loop());
    settle();
    EXPECT_EQ(wait.seen.error, std::errc::io_error);
}

TEST_P(Timeout, AResultThatThrowsWhenItIsKeptIsAnException) {
    running wait(timeout(ex::just() | ex::then([] { return fragile(0, 1); }), 1h));
    wait.start_on(loop());
    settle();
    EXPECT_EQ(wait.how(), ending::exception);
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(Timeout, ALoopThatIsDrainedStopsTheSender) {
    event never_set;
    running wait(timeout(never_set.wait(), 1h));
    wait.start_on(loop());
    settle();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(wait.how(), ending::stopped);
}

TEST_P(Timeout, MayBeDestroyedOnItsLoopWhileItIsPending) {
    event never_set;
    auto wait = std::make_unique<running<decltype(timeout(never_set.wait(), 1h))>>(
        timeout(never_set.wait(), 1h));
    wait->start_on(loop());
    settle();
    wait.reset();
    EXPECT_EQ(loop().next_deadline(), never);
}

TEST_P(Timeout, ASenderThatCompletesElsewhereComesBackToTheLoopOfTheTimer) {
    loop_group group({.size = 1, .loop = {.engine = GetParam()}});
    group.start();
    running wait(timeout(group.get_scheduler().schedule(), 1h));
    wait.start_on(loop());
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_EQ(wait.how(), ending::value);
    EXPECT_EQ(wait.seen.where, &loop());
    EXPECT_EQ(loop().next_deadline(), never);
}

/// A short time, a value from another loop and a stop, at about the same time.
void race_three(engine_kind engine, std::size_t tries) {
    loop_group group({.size = 2, .loop = {.engine = engine}});
    group.start();
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i != tries; ++i) {
        event happened;
        running wait(timeout(ex::starts_on(group.at(1).get_scheduler(), happened.wait()),
                             std::chrono::microseconds(random() % 40)));
        wait.start_on(group.at(0));
        std::thread stopper([&] {
            if (i % 2 == 0) wait.stop();
        });
        happened.set();
        stopper.join();
        while (!wait.ended()) std::this_thread::yield();
        ASSERT_NE(wait.how(), ending::exception);
        if (wait.how() == ending::error) {
            ASSERT_EQ(wait.seen.error, errc::timed_out);
        }
        ASSERT_EQ(wait.seen.completions, 1);
    }
}

TEST_P(Timeout, EndsOnceWhateverComesAtTheSameTime) { race_three(GetParam(), 2000); }

class LongTimeout : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongTimeout);
TEST_P(LongTimeout, EndsOnceWhateverComesAtTheSameTime) { race_three(GetParam(), scaled(20'000)); }

TEST(TimeoutMisuseDeathTest, WithoutALoop) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            running wait(timeout(ex::just(), std::chrono::seconds(1)));
            wait.start();
        },
        "started outside any loop");
}

}  // namespace
}  // namespace eddy::test::timeout_test
