// SPDX-License-Identifier: Apache-2.0
#include "joiner.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_spawn_future {

TEST(ExecSpawnFuture, TheFutureSendsTheResult) {
    ex::counting_scope scope;
    auto ready = ex::spawn_future(ex::just(1, 2), scope.get_token());
    EXPECT_EQ(run(std::move(ready)).numbers, (std::vector{1, 2}));

    manual_event event;
    auto pending = ex::spawn_future(event.wait(), scope.get_token());
    EXPECT_TRUE(event.started());
    outcome seen;
    auto operation = ex::connect(std::move(pending), probe<>{&seen});
    ex::start(operation);
    EXPECT_EQ(seen.channel, "none");
    event.value(5);
    EXPECT_EQ(seen.numbers, std::vector{5});

    auto failed = ex::spawn_future(ex::just_error(9), scope.get_token());
    EXPECT_EQ(run(std::move(failed)).channel, "error");
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawnFuture, ADroppedFutureStopsItsWork) {
    ex::simple_counting_scope scope;
    manual_event event;
    { auto dropped = ex::spawn_future(event.wait(), scope.get_token()); }
    EXPECT_TRUE(event.stop_seen());
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

TEST(ExecSpawnFuture, AStoppedFutureDoesNotWaitForItsWork) {
    ex::simple_counting_scope scope;
    ex::inplace_stop_source source;
    manual_event event;
    event.disobey();
    outcome seen;
    {
        auto operation = ex::connect(ex::spawn_future(event.wait(), scope.get_token()),
                                     probe<stoppable_env>{&seen, {{}, source.get_token()}});
        ex::start(operation);
        source.request_stop();
        EXPECT_TRUE(event.stop_seen());
        EXPECT_EQ(seen.channel, "stopped");
    }
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    event.value(1);
    EXPECT_TRUE(join.joined);
    EXPECT_EQ(seen.completions, 1);
}

TEST(ExecSpawnFuture, AClosedScopeGivesAStoppedFuture) {
    ex::simple_counting_scope scope;
    scope.close();
    EXPECT_EQ(run(ex::spawn_future(ex::just(1), scope.get_token())).channel, "stopped");
}

TEST(ExecSpawnFuture, StopCompletionAndDropRace) {
    ex::run_loop loop;
    std::thread thread([&] { loop.run(); });
    for (int round = 0; round < 300; ++round) {
        ex::counting_scope scope;
        ex::inplace_stop_source source;
        std::thread stopper([&] { source.request_stop(); });
        {
            auto future = ex::spawn_future(
                ex::schedule(loop.get_scheduler()) | ex::then([=]() noexcept { return round; }),
                scope.get_token());
            if (round % 3 != 0) {
                auto result = ex::sync_wait(ex::write_env(
                    std::move(future), ex::prop{ex::get_stop_token, source.get_token()}));
                if (result) {
                    EXPECT_EQ(std::get<0>(*result), round);
                }
            }
        }
        stopper.join();
        ex::sync_wait(scope.join());
    }
    loop.finish();
    thread.join();
}

}  // namespace eddy::ex_testing::exec_spawn_future
