// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "async/task_fixture.hpp"
#include "support/pattern.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/stream.hpp>

#include <array>
#include <string>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include <sys/socket.h>

namespace eddy::test::sends_in_tasks_test {
namespace {

class SendsInTasks : public TaskTest {
protected:
    stream make_stream(unique_fd fd) { return stream(loop(), std::move(fd)); }
};
EDDY_ON_EVERY_ENGINE(SendsInTasks);

TEST_P(SendsInTasks, WhatGoesAtOnceArrivesInOrder) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair, &make_pipe}) {
        fd_pair pair = make();
        const stream out = make_stream(std::move(pair.second));
        const auto body = [&]() -> task<std::size_t> {
            std::size_t sum = co_await out.write(bytes("one "));
            sum += co_await out.write_some(bytes("two "));
            sum += co_await out.write(bytes(""));
            co_return sum + co_await out.write(bytes("three"));
        };
        EXPECT_EQ(value_of(body()), 13U);
        std::string got;
        while (got.size() < 13 && becomes_ready(pair.first.get(), POLLIN)) {
            std::array<char, 13> some{};
            const ssize_t count = ::read(pair.first.get(), some.data(), some.size());
            ASSERT_GT(count, 0);
            got.append(some.data(), static_cast<std::size_t>(count));
        }
        EXPECT_EQ(got, "one two three");
    }
}

TEST_P(SendsInTasks, ASenderThatIsKeptCanBeAwaitedAgain) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    const auto body = [&]() -> task<std::size_t> {
        auto again = out.write(bytes("again "));
        co_return co_await again + co_await again;
    };
    EXPECT_EQ(value_of(body()), 12U);
    EXPECT_EQ(recv_exactly(pair.first.get(), 12), "again again ");
}

/// More than the kernel takes at once: the rest goes when there is room.
TEST_P(SendsInTasks, WhatGoesOnlyInPartGoesOn) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair}) {
        fd_pair pair = make();
        const stream out = make_stream(std::move(pair.second));
        const std::string data = pattern(std::size_t{6} << 20);
        std::string got;
        std::thread reader([&] { got = recv_exactly(pair.first.get(), data.size()); });
        const auto body = [&]() -> task<std::size_t> { co_return co_await out.write(bytes(data)); };
        EXPECT_EQ(value_of(body()), data.size());
        reader.join();
        EXPECT_TRUE(got == data);
    }
}

TEST_P(SendsInTasks, WhatIsStoppedInPartTellsWhatWent) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    const std::string data = pattern(std::size_t{6} << 20);
    std::size_t went = 0;
    const auto body = [&]() -> task<> { went = co_await out.write(bytes(data)); };
    running<task<>> r(body());
    r.start_on(loop());
    settle();
    ASSERT_FALSE(r.ended());
    r.stop();
    ASSERT_TRUE(until([&] { return r.ended(); }));
    EXPECT_EQ(r.how(), ending::value);
    EXPECT_GT(went, 0U);
    EXPECT_LT(went, data.size());
    EXPECT_EQ(recv_exactly(pair.first.get(), went), data.substr(0, went));
    EXPECT_EQ(bytes_waiting(pair.first.get()), 0U);
}

TEST_P(SendsInTasks, NothingIsSentAfterAStop) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    const auto body = [&]() -> task<> { co_await out.write(bytes("never")); };
    running<task<>> r(body());
    r.stop();
    r.start_on(loop());
    ASSERT_TRUE(until([&] { return r.ended(); }));
    EXPECT_EQ(r.how(), ending::stopped);
    EXPECT_EQ(bytes_waiting(pair.first.get()), 0U);
}

TEST_P(SendsInTasks, WhatCannotBeSentThrows) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    pair.first.reset();
    const auto body = [&]() -> task<std::error_code> {
        const auto result = co_await as_result(out.write(bytes("x")));
        try {
            co_await out.write(bytes("x"));
        } catch (const std::system_error& error) {
            co_return error.code() == result.error() ? error.code() : std::error_code();
        }
        co_return std::error_code();
    };
    EXPECT_EQ(value_of(body()), std::errc::broken_pipe);
}

/// What goes at once counts as done all the same: others have their turn.
TEST_P(SendsInTasks, WhoSendsOnAndOnLetsOthersRun) {
    fd_pair pair = unix_stream_pair();
    const stream out = make_stream(std::move(pair.second));
    bool others_ran = false;
    int sent = 0;
    const auto body = [&]() -> task<> {
        loop().post([&] { others_ran = true; });
        for (; sent != 100'000 && !others_ran; ++sent) {
            co_await out.write(bytes("x"));
            char taken = 0;
            static_cast<void>(::recv(pair.first.get(), &taken, 1, MSG_DONTWAIT));
        }
    };
    EXPECT_TRUE(loop().run(body()));
    EXPECT_TRUE(others_ran);
}

}  // namespace
}  // namespace eddy::test::sends_in_tasks_test
