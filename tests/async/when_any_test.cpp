// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "ex/support.hpp"
#include "support/engine_fixture.hpp"
#include "support/random.hpp"

#include <eddy/async/event.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/stream.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

namespace eddy::test::when_any_test {
namespace {

using ex_testing::fragile;
using ex_testing::manual_event;
using code = ex::set_error_t(std::error_code);

static_assert(
    ex_testing::sends<decltype(when_any(ex::just(1), ex::just(2))), ex::set_value_t(int)>);
static_assert(ex_testing::sends<decltype(when_any(ex::just(1), ex::just(std::string()))),
                                ex::set_value_t(int), ex::set_value_t(std::string)>);
static_assert(ex_testing::sends<decltype(when_any(manual_event().wait())), ex::set_value_t(int),
                                code, ex::set_stopped_t()>);

TEST(WhenAny, TheFirstWinsAndTheOthersAreStopped) {
    manual_event first;
    manual_event second;
    running race(when_any(first.wait(), second.wait()));
    race.start();
    second.value(2);
    EXPECT_TRUE(first.stop_seen());
    EXPECT_EQ(race.how(), ending::value);
    EXPECT_EQ(race.seen.number, 2);
    EXPECT_EQ(race.seen.completions, 1);
}

TEST(WhenAny, WaitsForThoseThatAreStopped) {
    manual_event slow;
    slow.disobey();
    running race(when_any(slow.wait(), ex::just(1)));
    race.start();
    EXPECT_TRUE(slow.stop_seen());
    EXPECT_FALSE(race.ended());
    slow.value(7);
    EXPECT_EQ(race.seen.number, 1);
}

TEST(WhenAny, AnErrorWinsToo) {
    manual_event first;
    manual_event second;
    running race(when_any(first.wait(), second.wait()));
    race.start();
    first.error(std::make_error_code(std::errc::io_error));
    EXPECT_EQ(race.how(), ending::error);
    EXPECT_EQ(race.seen.error, std::errc::io_error);
}

TEST(WhenAny, AStopOfTheWholeStopsAll) {
    manual_event first;
    manual_event second;
    running race(when_any(first.wait(), second.wait()));
    race.start();
    race.stop();
    EXPECT_EQ(race.how(), ending::stopped);
}

TEST(WhenAny, AResultGoesBeforeAStop) {
    manual_event slow;
    slow.disobey();
    running race(when_any(ex::just_stopped(), slow.wait()));
    race.start();
    EXPECT_TRUE(slow.stop_seen());
    slow.value(3);
    EXPECT_EQ(race.how(), ending::value);
    EXPECT_EQ(race.seen.number, 3);
}

TEST(WhenAny, AResultThatThrowsWhenItIsKeptIsAnException) {
    running race(when_any(ex::just() | ex::then([] { return fragile(0, 1); })));
    race.start();
    EXPECT_EQ(race.how(), ending::exception);
}

TEST(WhenAny, WhatTheLosersSentIsDestroyed) {
    const auto alive = std::make_shared<int>();
    running race(when_any(ex::just(std::shared_ptr<int>(alive)), ex::just(alive)));
    race.start();
    EXPECT_EQ(race.how(), ending::value);
    EXPECT_LE(alive.use_count(), 5);
}

class WhenAnyLoops : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WhenAnyLoops);

/// Two events are set and the whole is stopped, all on threads of their own.
void race_three(engine_kind engine, std::size_t tries) {
    loop_group group({.size = 2, .loop = {.engine = engine}});
    group.start();
    for (std::size_t i = 0; i != tries; ++i) {
        event first;
        event second;
        running race(when_any(ex::starts_on(group.at(0).get_scheduler(), first.wait()),
                              ex::starts_on(group.at(1).get_scheduler(), second.wait())));
        race.start();
        std::thread setter([&] { first.set(); });
        std::thread stopper([&] { race.stop(); });
        second.set();
        setter.join();
        stopper.join();
        while (!race.ended()) std::this_thread::yield();
        ASSERT_TRUE(race.how() == ending::value || race.how() == ending::stopped);
        ASSERT_EQ(race.seen.completions, 1);
    }
}

TEST_P(WhenAnyLoops, CompletesOnceWhateverComesAtTheSameTime) { race_three(GetParam(), 1000); }

TEST_P(WhenAnyLoops, BytesWinAgainstATimerThatIsTakenBack) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    std::array<std::byte, 8> buffer{};
    running race(when_any(
        in.read_some(buffer) | ex::then([](std::size_t n) noexcept { return static_cast<int>(n); }),
        loop().get_scheduler().schedule_after(1h) | ex::then([]() noexcept { return -1; })));
    race.start_on(loop());
    settle();
    EXPECT_FALSE(race.ended());
    write_all(pipe.second.get(), "abc");
    ASSERT_TRUE(until([&] { return race.ended(); }));
    EXPECT_EQ(race.how(), ending::value);
    EXPECT_EQ(race.seen.number, 3);
    EXPECT_TRUE(loop().empty());
}

class LongWhenAnyLoops : public EngineTest {};
EDDY_ON_EVERY_ENGINE(LongWhenAnyLoops);
TEST_P(LongWhenAnyLoops, CompletesOnceWhateverComesAtTheSameTime) {
    race_three(GetParam(), scaled(10'000));
}

}  // namespace
}  // namespace eddy::test::when_any_test
