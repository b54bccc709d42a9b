// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>

namespace eddy::ex_testing::exec_run_loop {

using scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());
static_assert(ex::scheduler<scheduler>);
static_assert(!ex::scheduler<int>);
static_assert(ex::sender<ex::schedule_result_t<scheduler>>);
static_assert(sends<ex::schedule_result_t<scheduler>, ex::set_value_t()>);
static_assert(sends_in<ex::schedule_result_t<scheduler>, stoppable_env, ex::set_value_t(),
                       ex::set_stopped_t()>);

TEST(ExecRunLoop, WorkRunsInOrderInsideRun) {
    ex::run_loop loop;
    std::string order;
    outcome seen;
    const auto append = [&](char letter) {
        return ex::schedule(loop.get_scheduler()) | ex::then([&, letter] { order += letter; });
    };
    auto first = ex::connect(append('a'), probe<>{&seen});
    auto second = ex::connect(append('b'), probe<>{&seen});
    ex::start(first);
    ex::start(second);
    EXPECT_EQ(order, "");
    loop.finish();
    loop.run();
    EXPECT_EQ(order, "ab");
}

TEST(ExecRunLoop, WorkThatIsStoppedDoesNotRun) {
    ex::run_loop loop;
    ex::inplace_stop_source source;
    outcome seen;
    auto operation = ex::connect(ex::schedule(loop.get_scheduler()),
                                 probe<stoppable_env>{&seen, {{}, source.get_token()}});
    ex::start(operation);
    source.request_stop();
    EXPECT_EQ(seen.channel, "none");
    loop.finish();
    loop.run();
    EXPECT_EQ(seen.channel, "stopped");
}

// stdexec has no such check.
#if EDDY_EX_BUILTIN
TEST(ExecRunLoop, DestroyingOneThatRunsTerminates) {
    const auto destroy_while_it_runs = [] {
        std::optional<ex::run_loop> loop(std::in_place);
        outcome seen;
        auto operation = ex::connect(
            ex::schedule(loop->get_scheduler()) | ex::then([&]() noexcept { loop.reset(); }),
            probe<>{&seen});
        ex::start(operation);
        loop->run();
    };
    EXPECT_EXIT(destroy_while_it_runs(), ::testing::KilledBySignal(SIGABRT), "terminate");
}
#endif

TEST(ExecRunLoop, OneThatWasFinishedOrNeverRanMayBeDestroyed) {
    { ex::run_loop never_ran; }
// stdexec asserts that it was run after that.
#if EDDY_EX_BUILTIN
    {
        ex::run_loop finished_before;
        finished_before.finish();
    }
#endif
    ex::run_loop ran;
    ran.finish();
    ran.run();
    SUCCEED();
}

TEST(ExecRunLoop, SchedulersAreEqualIfTheirLoopIs) {
    ex::run_loop loop;
    ex::run_loop other;
    EXPECT_TRUE(loop.get_scheduler() == loop.get_scheduler());
    EXPECT_FALSE(loop.get_scheduler() == other.get_scheduler());
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(
                    ex::get_env(ex::schedule(loop.get_scheduler()))) == loop.get_scheduler());
}

}  // namespace eddy::ex_testing::exec_run_loop
