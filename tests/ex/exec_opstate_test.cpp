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

TEST(ExecOpstate, StartCallsTheMember) {
    counter operation;
    ex::start(operation);
    EXPECT_EQ(operation.starts, 1);
}

}  // namespace eddy::ex_testing::exec_opstate
