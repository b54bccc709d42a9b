// SPDX-License-Identifier: Apache-2.0
// Exceptions of what users write, wherever it is called: each arrives as one, and leaks nothing.
#include "async/running.hpp"
#include "async/task_fixture.hpp"

#include <eddy/async/async.hpp>
#include <eddy/io/io_sender.hpp>

#include <memory>
#include <stdexcept>
#include <string>

namespace eddy::test::exception_test {
namespace {

/// A sender of the user's that throws when it is connected. It holds something that must not leak.
struct throws_in_connect {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::error_code),
                                         ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const -> ex::connect_result_t<decltype(ex::just()), Receiver> {
        throw std::runtime_error("not connected");
        return ex::connect(ex::just(), std::move(receiver));
    }

    std::shared_ptr<int> held;
};

class UserException : public TaskTest {
protected:
    /// What comes of a sender that is run to its end.
    template <class Sender>
    std::string thrown_by(Sender&& sender) {
        try {
            static_cast<void>(loop().run(std::forward<Sender>(sender)));
            return {};
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }
    throws_in_connect bad() const { return {held}; }
    void TearDown() override {
        if (!IsSkipped()) {
            settle();
        }
        EXPECT_EQ(held.use_count(), 1) << "a sender has leaked";
        TaskTest::TearDown();
    }

    std::shared_ptr<int> held = std::make_shared<int>();
    const std::string expected = "not connected";
    std::string buffer_ = std::string(16, ' ');
};
EDDY_ON_EVERY_ENGINE(UserException);

TEST_P(UserException, OfConnectInsideAdaptorsIsThrownByTheirConnect) {
    EXPECT_EQ(thrown_by(bad()), expected);
    EXPECT_EQ(thrown_by(as_result(bad())), expected);
    EXPECT_EQ(thrown_by(timeout(bad(), 1h)), expected);
    EXPECT_EQ(thrown_by(when_any(ex::just(), bad())), expected);
    EXPECT_EQ(thrown_by(finally(bad(), ex::just())), expected);
    EXPECT_EQ(thrown_by(finally(ex::just(), bad())), expected);
}

TEST_P(UserException, OfConnectInALaterRoundIsAnError) {
    EXPECT_EQ(thrown_by(repeat([&] { return bad(); })), expected);
    EXPECT_EQ(thrown_by(retry([&] { return bad(); })), expected);
}

TEST_P(UserException, OfConnectInATaskIsThrownByCoAwait) {
    const auto body = [&]() -> task<std::string> {
        try {
            co_await bad();
        } catch (const std::runtime_error& error) {
            co_return error.what();
        }
        co_return "";
    };
    EXPECT_EQ(value_of(body()), expected);
}

TEST_P(UserException, OfConnectInANurseryStopsIt) {
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(bad());
            co_await loop().get_scheduler().schedule_after(1h);
        });
    };
    EXPECT_EQ(thrown_by(body()), expected);
}

TEST_P(UserException, OfTheHandlerOfAChildStopsTheNursery) {
    const auto fails = []() -> task<> {
        throw std::runtime_error("child");
        co_return;
    };
    const auto body = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(fails(),
                           [](std::exception_ptr) { throw std::runtime_error("handler"); });
            co_await loop().get_scheduler().schedule_after(1h);
        });
    };
    EXPECT_EQ(thrown_by(body()), "handler");
}

TEST_P(UserException, OfWhatIsSpawnedGoesToItsHandler) {
    std::string told;
    const auto tell = [&](std::exception_ptr thrown) noexcept {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::runtime_error& error) {
            told += error.what();
        }
    };
    spawn(loop(), bad(), tell);
    spawn(loop(), ex::just() | ex::then([] { throw std::runtime_error(", then"); }), tell);
    settle();
    EXPECT_EQ(told, "not connected, then");
}

TEST_P(UserException, OfFunctionsBehindIoIsAnError) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    const auto read = [&] { return io_sender<as_count>(&loop(), recv(socket, bytes(buffer_))); };
    const auto thrower = [&](auto&&...) -> int { throw std::runtime_error(expected); };
    const auto maker = [&](auto&&...) -> decltype(ex::just(1)) {
        throw std::runtime_error(expected);
    };
    const auto with_data = [&](auto sender) {
        send_all(pair.second.get(), "x");
        return thrown_by(std::move(sender));
    };
    EXPECT_EQ(with_data(read() | ex::then(thrower)), expected);
    EXPECT_EQ(with_data(read() | ex::let_value(maker)), expected);
    pair.second.reset();
    const auto fails = [&] {
        return io_sender<as_count>(&loop(), send(socket, bytes("x"))) |
               ex::then([](std::size_t) { return 0; });
    };
    EXPECT_EQ(thrown_by(fails() | ex::upon_error(thrower)), expected);
    EXPECT_EQ(thrown_by(fails() | ex::let_error(maker)), expected);
    const auto stopped = ex::just_stopped();
    EXPECT_EQ(thrown_by(stopped | ex::upon_stopped(thrower)), expected);
    EXPECT_EQ(thrown_by(stopped | ex::let_stopped(maker)), expected);
}

}  // namespace
}  // namespace eddy::test::exception_test
