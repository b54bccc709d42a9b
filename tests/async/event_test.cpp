// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/event.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::event_test {
namespace {

class Event : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Event);

TEST_P(Event, AWaitOnALoopCompletesThereAfterSetHasReturned) {
    event happened;
    running wait(happened.wait());
    bool ended_inside = true;
    wait.start_on(loop());
    loop().post([&] {
        happened.set();
        ended_inside = wait.ended();
    });
    ASSERT_TRUE(until([&] { return wait.ended(); }));
    EXPECT_FALSE(ended_inside);
    EXPECT_EQ(wait.how(), ending::value);
    EXPECT_EQ(wait.seen.where, &loop());
}

TEST_P(Event, AWaitIsCompletedOnItsLoopByAnotherThread) {
    event happened;
    running wait(happened.wait());
    loop().post([&] { wait.start(); });
    settle();
    std::thread other([&] { happened.set(); });
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    other.join();
    EXPECT_EQ(wait.seen.where, &loop());
}

TEST_P(Event, AStoppedWaitEndsOnItsLoop) {
    event happened;
    running wait(happened.wait());
    wait.start_on(loop());
    settle();
    EXPECT_FALSE(wait.ended());
    std::thread other([&] { wait.stop(); });
    EXPECT_TRUE(until([&] { return wait.ended(); }));
    other.join();
    EXPECT_EQ(wait.how(), ending::stopped);
    EXPECT_EQ(wait.seen.where, &loop());
    happened.set();
    settle();
    EXPECT_EQ(wait.seen.completions, 1);
}

TEST_P(Event, AWaitThatWasLetGoArrivesAlthoughTheLoopIsDrained) {
    event happened;
    running wait(happened.wait());
    wait.start_on(loop());
    settle();
    happened.set();
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(wait.how(), ending::value);
}

TEST_P(Event, AWaitMayBeDestroyedOnItsLoop) {
    event happened;
    auto wait = std::make_unique<running<decltype(happened.wait())>>(happened.wait());
    wait->start_on(loop());
    settle();
    wait.reset();
    happened.set();
    settle();
}

TEST_P(Event, WhoIsLetGoMayDestroyIt) {
    loop_group group({.size = 1, .loop = {.engine = GetParam()}});
    group.start();
    struct destroy {
        std::unique_ptr<event>* owner;
        void operator()(outcome&) { owner->reset(); }
    };
    for (int i = 0; i != 1000; ++i) {
        auto happened = std::make_unique<event>();
        event& same = *happened;
        running wait(happened->wait(), destroy{&happened});
        std::atomic<bool> started = false;
        group.post([&] {
            wait.start();
            started = true;
        });
        while (!started) std::this_thread::yield();
        same.set();
        while (!wait.ended()) std::this_thread::yield();
        ASSERT_EQ(happened, nullptr);
    }
}

TEST(EventWithoutLoop, CompletesInsideSet) {
    event happened;
    running first(happened.wait());
    running second(happened.wait());
    first.start();
    second.start();
    EXPECT_FALSE(first.ended());
    happened.set();
    EXPECT_EQ(first.how(), ending::value);
    EXPECT_EQ(second.how(), ending::value);
    EXPECT_TRUE(happened.is_set());
}

TEST(EventWithoutLoop, ASetEventCompletesAtOnceAndAResetOneDoesNot) {
    event happened(true);
    running first(happened.wait());
    first.start();
    EXPECT_EQ(first.how(), ending::value);
    happened.reset();
    running second(happened.wait());
    second.start();
    EXPECT_FALSE(second.ended());
    second.stop();
    EXPECT_EQ(second.how(), ending::stopped);
}

TEST(EventWithoutLoop, AStopBeforeTheStartWins) {
    event happened(true);
    running wait(happened.wait());
    wait.stop();
    wait.start();
    EXPECT_EQ(wait.how(), ending::stopped);
}

TEST(EventWithoutLoop, SyncWaitBlocksUntilAnotherThreadSetsIt) {
    event happened;
    std::thread other([&] { happened.set(); });
    EXPECT_TRUE(ex::sync_wait(happened.wait()));
    other.join();
}

void race_set_against_stop(scheduler& where, std::size_t tries) {
    std::size_t values = 0;
    for (std::size_t i = 0; i != tries; ++i) {
        event happened;
        running wait(happened.wait());
        wait.start_on(where);
        std::atomic<int> at_the_line = 0;
        const auto together = [&] {
            ++at_the_line;
            while (at_the_line != 2) std::this_thread::yield();
        };
        std::thread stopper([&] {
            together();
            wait.stop();
        });
        together();
        happened.set();
        stopper.join();
        while (!wait.ended()) std::this_thread::yield();
        ASSERT_TRUE(wait.how() == ending::value || wait.how() == ending::stopped);
        ASSERT_EQ(wait.seen.completions, 1);
        values += wait.how() == ending::value;
    }
    EXPECT_LE(values, tries);
}

TEST_P(Event, ASetAndAStopAtTheSameTimeEndItOnce) {
    loop_group group({.size = 1, .loop = {.engine = GetParam()}});
    group.start();
    race_set_against_stop(group, 1000);
}

class LongEvent : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongEvent);

TEST_P(LongEvent, ASetAndAStopAtTheSameTimeEndItOnce) {
    loop_group group({.size = 1, .loop = {.engine = GetParam()}});
    group.start();
    race_set_against_stop(group, scaled(20'000));
}

TEST(EventMisuseDeathTest, DestroyingItWhileSomeoneWaits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            auto happened = std::make_unique<event>();
            running wait(happened->wait());
            wait.start();
            happened.reset();
        },
        "destroyed while someone waits for it");
}

}  // namespace
}  // namespace eddy::test::event_test
