// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::stoptoken_never {

static_assert(ex::stoppable_token<ex::never_stop_token>);
static_assert(ex::unstoppable_token<ex::never_stop_token>);

TEST(StoptokenNever, NothingIsEverRequestedOrCalled) {
    const ex::never_stop_token token;
    EXPECT_FALSE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_TRUE(token == ex::never_stop_token());
    int calls = 0;
    const auto count = [&] { ++calls; };
    { ex::stop_callback_for_t<ex::never_stop_token, decltype(count)> registered(token, count); }
    EXPECT_EQ(calls, 0);
}

}  // namespace eddy::ex_testing::stoptoken_never
