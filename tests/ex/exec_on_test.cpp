// SPDX-License-Identifier: Apache-2.0
#include "other_thread.hpp"
#include "support.hpp"
#include "telltale.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_on {

TEST(ExecOn, RunsThereAndComesBack) {
    other_thread thread;
    auto [there, back] = ex::sync_wait(ex::on(thread.get_scheduler(), ex::just() | ex::then(here)) |
                                       ex::let_value([](auto& id) { return ex::just(id, here()); }))
                             .value();
    EXPECT_EQ(there, thread.id());
    EXPECT_EQ(back, std::this_thread::get_id());
}

TEST(ExecOn, APartOfAChainRunsThereAndComesBack) {
    other_thread thread;
    auto [number, there, back] =
        ex::sync_wait(
            ex::just(3) | ex::on(thread.get_scheduler(), ex::then([](int value) {
                                     return std::pair(value, here());
                                 })) |
            ex::let_value([](auto& pair) { return ex::just(pair.first, pair.second, here()); }))
            .value();
    EXPECT_EQ(number, 3);
    EXPECT_EQ(there, thread.id());
    EXPECT_EQ(back, std::this_thread::get_id());
}

TEST(ExecOn, AnLvalueIsConnectedByCopyOfItsChildAsWhatItIsItself) {
    const ex::prop env{ex::get_start_scheduler, ex::inline_scheduler{}};
    const auto check = [&](auto sender) {
        EXPECT_EQ(run(sender, env).numbers, std::vector{11});
        EXPECT_EQ(run(std::as_const(sender), env).numbers, std::vector{21});
        EXPECT_EQ(run(std::move(sender), env).numbers, std::vector{1});
    };
    check(ex::on(ex::inline_scheduler{}, telltale()));
    check(telltale() |
          ex::on(ex::inline_scheduler{}, ex::then([](int how) noexcept { return how; })));
}

}  // namespace eddy::ex_testing::exec_on
