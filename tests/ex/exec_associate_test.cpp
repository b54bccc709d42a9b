#include "joiner.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_associate {

TEST(ExecAssociate, TheScopeWaitsForTheSenderAndItsOperation) {
    ex::simple_counting_scope scope;
    std::optional sender(ex::associate(ex::just(4), scope.get_token()));
    static_assert(sends<decltype(ex::associate(ex::just(4), scope.get_token())),
                        ex::set_value_t(int), ex::set_stopped_t()>);
    joiner join(scope);
    EXPECT_FALSE(join.joined);
    {
        outcome seen;
        auto operation = ex::connect(std::move(*sender), probe<>{&seen});
        sender.reset();
        EXPECT_FALSE(join.joined);
        ex::start(operation);
        EXPECT_EQ(seen.numbers, std::vector{4});
    }
    EXPECT_TRUE(join.joined);
}

TEST(ExecAssociate, UnderAClosedScopeItIsStopped) {
    ex::simple_counting_scope scope;
    scope.close();
    EXPECT_EQ(run(ex::just(4) | ex::associate(scope.get_token())).channel, "stopped");
}

TEST(ExecAssociate, ItIsStoppedWithItsScope) {
    ex::counting_scope scope;
    manual_event event;
    outcome seen;
    {
        auto operation =
            ex::connect(event.wait() | ex::associate(scope.get_token()), probe<>{&seen});
        ex::start(operation);
        scope.request_stop();
    }
    EXPECT_EQ(seen.channel, "stopped");
    joiner join(scope);
    EXPECT_TRUE(join.joined);
}

}  // namespace eddy::ex_testing::exec_associate
