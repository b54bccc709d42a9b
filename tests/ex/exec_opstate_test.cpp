// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <gtest/gtest.h>

namespace eddy::ex_testing::exec_opstate {

struct counter {
    using operation_state_concept = ex::operation_state_tag;
    int starts = 0;
    void start() & noexcept { ++starts; }
};
struct not_startable {
    using operation_state_concept = ex::operation_state_tag;
};

static_assert(ex::operation_state<counter>);
static_assert(!ex::operation_state<not_startable>);
static_assert(!ex::operation_state<int>);
static_assert(!ex::operation_state<counter&>);
static_assert(!std::is_invocable_v<ex::start_t, counter>, "an rvalue cannot be started");

/// Could be started however it is reached.
struct easy {
    using operation_state_concept = ex::operation_state_tag;
    void start() const noexcept {}
};
static_assert(std::is_invocable_v<ex::start_t, easy&>);
static_assert(!std::is_invocable_v<ex::start_t, easy>);
// stdexec starts const ones.
#if EDDY_EX_BUILTIN
static_assert(!std::is_invocable_v<ex::start_t, const easy>);
static_assert(!std::is_invocable_v<ex::start_t, const easy&>);
#endif

TEST(ExecOpstate, StartCallsTheMember) {
    counter operation;
    ex::start(operation);
    EXPECT_EQ(operation.starts, 1);
}

}  // namespace eddy::ex_testing::exec_opstate
