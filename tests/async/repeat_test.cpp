// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "ex/queries.hpp"
#include "ex/support.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/async/event.hpp>
#include <eddy/async/repeat.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/stream.hpp>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

namespace eddy::test::repeat_test {
namespace {

using ex_testing::manual_event;

TEST(Repeat, AMillionInlineCompletionsDoNotGrowTheStack) {
    int left = 1'000'000;
    running loop(repeat_until([&] { return ex::just(--left == 0); }));
    loop.start();
    EXPECT_EQ(loop.how(), ending::value);
    EXPECT_EQ(left, 0);
}

TEST(Repeat, AnErrorEndsIt) {
    manual_event step;
    running loop(repeat([&] { return step.wait(); }));
    loop.start();
    for (int i = 0; i != 10; ++i) step.value(i);
    EXPECT_FALSE(loop.ended());
    step.error(std::make_error_code(std::errc::io_error));
    EXPECT_EQ(loop.seen.error, std::errc::io_error);
}

TEST(Repeat, AStopEndsIt) {
    manual_event step;
    running loop(repeat([&] { return step.wait(); }));
    loop.start();
    step.value(1);
    loop.stop();
    EXPECT_EQ(loop.how(), ending::stopped);
}

TEST(Repeat, AStopEndsOneWhoseSendersDoNotListen) {
    ex::inplace_stop_source* source = nullptr;
    int rounds = 0;
    running loop(repeat([&] {
        if (++rounds == 10) source->request_stop();
        return ex::just();
    }));
    source = &loop.source;
    loop.start();
    EXPECT_EQ(loop.how(), ending::stopped);
    EXPECT_EQ(rounds, 10);
}

TEST(Repeat, AFactoryThatThrowsEndsIt) {
    int rounds = 0;
    running loop(repeat([&] {
        if (++rounds == 3) throw std::runtime_error("no more");
        return ex::just();
    }));
    loop.start();
    EXPECT_EQ(loop.how(), ending::exception);
    EXPECT_EQ(rounds, 3);
}

TEST(Repeat, AValueThatThrowsWhenItIsAskedEndsIt) {
    struct moody {
        explicit operator bool() const { throw std::runtime_error("ask later"); }
    };
    running loop(repeat_until([] { return ex::just(moody{}); }));
    loop.start();
    EXPECT_EQ(loop.how(), ending::exception);
}

class RepeatLoops : public EngineTest {};
EDDY_ON_EVERY_ENGINE(RepeatLoops);

TEST_P(RepeatLoops, RoundsMayEndOnAnotherThreadWhileTheyAreStarted) {
    loop_group group({.size = 2, .loop = {.engine = GetParam()}});
    group.start();
    int left = 20'000;
    running hops(repeat_until([&] {
        return group.at(static_cast<std::size_t>(left) % 2).get_scheduler().schedule() |
               ex::then([&] { return --left == 0; });
    }));
    hops.start();
    while (!hops.ended()) std::this_thread::yield();
    EXPECT_EQ(hops.how(), ending::value);
    EXPECT_EQ(left, 0);
}

TEST_P(RepeatLoops, ReadsByteByByteToTheEndOfTheStream) {
    fd_pair pipe = make_pipe();
    const stream in(loop(), std::move(pipe.first));
    write_all(pipe.second.get(), "hello world");
    std::array<std::byte, 1> byte{};
    std::string seen;
    const auto keep = [&](std::size_t count) {
        seen.append(reinterpret_cast<const char*>(byte.data()), count);
        return count == 0;
    };
    running reads(repeat_until([&] { return in.read_some(byte) | ex::then(keep); }));
    reads.start_on(loop());
    ASSERT_TRUE(until([&] { return seen.size() == 11; }));
    EXPECT_FALSE(reads.ended());
    pipe.second.reset();
    ASSERT_TRUE(until([&] { return reads.ended(); }));
    EXPECT_EQ(reads.how(), ending::value);
    EXPECT_EQ(seen, "hello world");
}

/// Answers with its own address.
struct itself {
    const itself* query(ex_testing::get_name_t) const noexcept { return this; }
};
struct receiver_with_itself {
    using receiver_concept = ex::receiver_tag;
    const itself* environment;
    void set_value() noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
    const itself& get_env() const noexcept { return *environment; }
};

TEST(Repeat, TheSendersSeeTheEnvironmentOfTheReceiverAndNoCopy) {
    const itself environment;
    const itself* seen = nullptr;
    auto operation = ex::connect(repeat_until([&] {
                                     return ex::read_env(ex_testing::get_name) |
                                            ex::then([&](const itself* name) {
                                                seen = name;
                                                return true;
                                            });
                                 }),
                                 receiver_with_itself{&environment});
    ex::start(operation);
    EXPECT_EQ(seen, &environment);
}

}  // namespace
}  // namespace eddy::test::repeat_test
