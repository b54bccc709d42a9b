// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "async/task_fixture.hpp"

#include <eddy/async/task.hpp>
#include <eddy/io/stream.hpp>

#include <string>
#include <utility>

namespace eddy::test::expression_test {
namespace {

/// Several awaits in one expression. g++ 12 begins them all before it takes the first result, so
/// that several operations of one task may be alive at once.
class AwaitsOfAnExpression : public TaskTest {
protected:
    stream make_stream(unique_fd fd) { return stream(loop(), std::move(fd)); }
};
EDDY_ON_EVERY_ENGINE(AwaitsOfAnExpression);

TEST_P(AwaitsOfAnExpression, GiveEachItsOwnResult) {
    const auto soon = [&](int value) {
        return ex::then(loop().get_scheduler().schedule_after(1us), [value] { return value; });
    };
    const auto body = [&]() -> task<int> {
        const std::string text = std::to_string(co_await soon(1)) +
                                 std::to_string(co_await soon(2)) +
                                 std::to_string(co_await ex::just(3));
        co_return std::stoi(text) + co_await soon(co_await soon(4));
    };
    EXPECT_EQ(value_of(body()), 127);
}

TEST_P(AwaitsOfAnExpression, MayBeOfOneSenderThatIsKept) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    const auto body = [&]() -> task<std::size_t> {
        auto again = out.write(bytes("again "));
        co_return co_await again + co_await again;
    };
    EXPECT_EQ(value_of(body()), 12U);
    EXPECT_EQ(recv_exactly(pair.first.get(), 12), "again again ");
}

TEST_P(AwaitsOfAnExpression, SendNothingAfterAStop) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    const auto body = [&]() -> task<std::size_t> {
        co_return co_await out.write(bytes("never")) + co_await out.write(bytes("ever"));
    };
    running<task<std::size_t>> r(body());
    r.stop();
    r.start_on(loop());
    ASSERT_TRUE(until([&] { return r.ended(); }));
    EXPECT_EQ(r.how(), ending::stopped);
    EXPECT_EQ(bytes_waiting(pair.first.get()), 0U);
}

}  // namespace
}  // namespace eddy::test::expression_test
