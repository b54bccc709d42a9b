// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/io_sender.hpp>

#include <stdexcept>
#include <string>
#include <tuple>

namespace eddy::test::as_result_test {
namespace {

const std::error_code refused = std::make_error_code(std::errc::connection_refused);

class AsResult : public TaskTest {
protected:
    /// A task's way through: the code that it is given.
    template <class Sender>
    std::error_code code_of(Sender sender) {
        const auto body = [](Sender what) -> task<std::error_code> {
            const auto got = co_await as_result(std::move(what));
            co_return got.error();
        };
        return value_of(body(std::move(sender)));
    }
};
EDDY_ON_EVERY_ENGINE(AsResult);

TEST_P(AsResult, IsTheValueOfASuccess) {
    const auto body = []() -> task<std::string> {
        const result<int> one = co_await as_result(ex::just(1));
        const result<> none = co_await as_result(ex::just());
        const result<std::tuple<int, std::string>> two =
            co_await as_result(ex::just(2, std::string("three")));
        co_return std::to_string(*one) + (none ? "," : "!") + std::to_string(std::get<0>(*two)) +
            std::get<1>(*two);
    };
    EXPECT_EQ(value_of(body()), "1,2three");
}

TEST_P(AsResult, IsTheErrorCode) {
    EXPECT_EQ(code_of(ex::just_error(refused)), refused);
    EXPECT_EQ(code_of(ex::just_error(std::make_exception_ptr(std::system_error(refused)))),
              refused);
    EXPECT_EQ(code_of(ex::just(1)), std::error_code());
}

TEST_P(AsResult, OfATaskIsWhatItThrowsIfThatHasACode) {
    const auto fails = []() -> task<int> {
        co_await ex::just_error(refused);
        co_return 1;
    };
    EXPECT_EQ(code_of(fails()), refused);
}

TEST_P(AsResult, LeavesOtherErrorsWhatTheyAre) {
    EXPECT_THROW(code_of(ex::just_error(std::make_exception_ptr(std::domain_error("no")))),
                 std::domain_error);
    EXPECT_THROW(code_of(ex::just_error(std::string("text"))), std::string);
}

TEST_P(AsResult, LeavesAStopAStop) { EXPECT_FALSE(loop().run(as_result(ex::just_stopped()))); }

struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) noexcept(false) { throw std::length_error("moved"); }
};

TEST_P(AsResult, TellsOfAValueThatCannotBeMoved) {
    auto sender = ex::then(ex::just(), [] { return throws_when_moved(); });
    EXPECT_THROW(static_cast<void>(loop().run(as_result(std::move(sender)))), std::length_error);
}

TEST_P(AsResult, OfIo) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    const auto body = [&]() -> task<std::size_t> {
        std::string buffer(8, ' ');
        test::send_all(pair.second.get(), "four");
        auto got = co_await as_result(io_sender<as_count>(&loop(), recv(socket, bytes(buffer))));
        pair.second.reset();
        auto failed = co_await as_result(io_sender<as_count>(&loop(), send(socket, bytes("x"))));
        EXPECT_EQ(failed.error(), std::errc::broken_pipe);
        co_return got.value();
    };
    EXPECT_EQ(value_of(body()), 4U);
}

TEST_P(AsResult, CompletesWhereItsSenderDoes) {
    const auto sender = as_result(loop().get_scheduler().schedule());
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)),
              loop().get_scheduler());
}

}  // namespace
}  // namespace eddy::test::as_result_test
