// SPDX-License-Identifier: Apache-2.0
#include "other_thread.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <utility>

namespace eddy::ex_testing::exec_continues_on {

using scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());

TEST(ExecContinuesOn, TheCompletionArrivesThere) {
    other_thread thread;
    auto [before, value, after] =
        ex::sync_wait(ex::just(5) | ex::then([](int number) {
                          return std::pair(std::this_thread::get_id(), number);
                      }) |
                      ex::continues_on(thread.get_scheduler()) | ex::let_value([](auto& pair) {
                          return ex::just(pair.first, pair.second, std::this_thread::get_id());
                      }))
            .value();
    EXPECT_EQ(before, std::this_thread::get_id());
    EXPECT_EQ(value, 5);
    EXPECT_EQ(after, thread.id());
}

TEST(ExecContinuesOn, ErrorsAndStopsArriveThereToo) {
    other_thread thread;
    auto [error] = ex::sync_wait(ex::just_error(1) | ex::continues_on(thread.get_scheduler()) |
                                 ex::upon_error([](auto&&) { return here(); }))
                       .value();
    EXPECT_EQ(error, thread.id());
    auto [stop] = ex::sync_wait(ex::just_stopped() | ex::continues_on(thread.get_scheduler()) |
                                ex::upon_stopped(here))
                      .value();
    EXPECT_EQ(stop, thread.id());
}

static_assert(sends_in<decltype(ex::continues_on(ex::just(1), std::declval<scheduler>())),
                       stoppable_env, ex::set_value_t(int), ex::set_stopped_t()>);
static_assert(sends<decltype(ex::continues_on(ex::just(fragile(1, 1)), std::declval<scheduler>())),
                    ex::set_value_t(fragile), ex::set_error_t(std::exception_ptr)>);

TEST(ExecContinuesOn, SaysWhereItCompletes) {
    ex::run_loop loop;
    const auto sender = ex::continues_on(ex::just(), loop.get_scheduler());
    EXPECT_TRUE(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)) ==
                loop.get_scheduler());
}

}  // namespace eddy::ex_testing::exec_continues_on
