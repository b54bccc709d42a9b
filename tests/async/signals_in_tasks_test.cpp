// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/signal.hpp>

#include <vector>

namespace eddy::test::signals_in_tasks_test {
namespace {

class SignalsInTasks : public EngineTest {
protected:
    static inline const int rt = SIGRTMIN + 3;
    blocked_signals blocked_{{SIGUSR1, SIGUSR2, rt}};
};
EDDY_ON_EVERY_ENGINE(SignalsInTasks);

task<std::vector<int>> values(signal_source& source, int signum, int count) {
    std::vector<int> got;
    while (count-- != 0) {
        const signal_info info = co_await wait_signal(source, signum);
        got.push_back(info.int_value());
    }
    co_return got;
}

TEST_P(SignalsInTasks, ACoroutineGetsEachValueInOrder) {
    signal_source source(loop(), {rt});
    for (int i = 0; i != 5; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    const auto got = loop().run(values(source, rt, 5));
    EXPECT_EQ(std::get<0>(got.value()), (std::vector{0, 1, 2, 3, 4}));
}

TEST_P(SignalsInTasks, TwoCoroutinesGetWhatTheyWaitedForFirst) {
    signal_source source(loop(), {rt});
    for (int i = 0; i != 4; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    const auto got = loop().run(ex::when_all(values(source, rt, 2), values(source, rt, 2)));
    EXPECT_EQ(std::get<0>(got.value()), (std::vector{0, 2}));
    EXPECT_EQ(std::get<1>(got.value()), (std::vector{1, 3}));
}

task<int> which(signal_source& source) {
    co_return (co_await timeout(wait_any_signal(source, {SIGUSR1, SIGUSR2}), 5s)).signum;
}

TEST_P(SignalsInTasks, ACoroutineWaitsForAnyOfASetUnderATimeout) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    send_signal(SIGUSR2);
    EXPECT_EQ(std::get<0>(loop().run(which(source)).value()), SIGUSR2);
}

TEST_P(SignalsInTasks, ATimeoutEndsTheWaitAndTakesNoSignal) {
    signal_source source(loop(), {SIGUSR1});
    auto limited = [](signal_source& from) -> task<std::error_code> {
        const auto got = co_await as_result(timeout(wait_signal(from, SIGUSR1), 1ms));
        co_return got.error();
    };
    EXPECT_EQ(std::get<0>(loop().run(limited(source)).value()), errc::timed_out);
    send_signal(SIGUSR1);
    settle();
    EXPECT_TRUE(is_pending(SIGUSR1));
    EXPECT_EQ(std::get<0>(loop().run(limited(source)).value()), std::error_code());
}

TEST_P(SignalsInTasks, TheLoserOfARaceSwallowsNoSignal) {
    signal_source source(loop(), {SIGUSR1, rt});
    send_signal(SIGUSR1);
    ASSERT_TRUE(queue_signal(rt, 9));
    auto race = [](signal_source& from, int queued) -> task<> {
        co_await when_any(wait_signal(from, SIGUSR1), wait_signal(from, queued));
    };
    loop().run(race(source, rt));
    EXPECT_FALSE(is_pending(SIGUSR1));
    EXPECT_TRUE(is_pending(rt)) << "the loser took it";
    EXPECT_EQ(std::get<0>(loop().run(values(source, rt, 1)).value()), (std::vector{9}));
}

}  // namespace
}  // namespace eddy::test::signals_in_tasks_test
