// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

#include <system_error>
#include <tuple>
#include <variant>

namespace eddy::ex_testing::exec_sync_wait_var {

TEST(ExecSyncWaitVar, GivesTheWayThatWasTaken) {
    auto result = ex::sync_wait_with_variant(ex::just(1, 2.0)).value();
    EXPECT_EQ((std::get<std::tuple<int, double>>(result)), (std::tuple{1, 2.0}));
}

TEST(ExecSyncWaitVar, AStopGivesNothing) {
    ex::inplace_stop_source source;
    source.request_stop();
    manual_event event;
    EXPECT_FALSE(ex::sync_wait_with_variant(
        ex::write_env(event.wait(), ex::prop{ex::get_stop_token, source.get_token()}) |
        ex::upon_error([](std::error_code) {})));
}

TEST(ExecSyncWaitVar, AnErrorIsThrown) {
    EXPECT_THROW(ex::sync_wait_with_variant(ex::just() | ex::then([] { throw 3; })), int);
}

}  // namespace eddy::ex_testing::exec_sync_wait_var
