// SPDX-License-Identifier: Apache-2.0
// A loop that awaits what a loop does that nobody runs is told so, in builds without NDEBUG.
#include "async/task_fixture.hpp"
#include "loop/stranded_waits.hpp"

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <thread>

namespace eddy::test::stranded_wait_test {
namespace {

#ifndef NDEBUG

task<> read_from(const stream& from) {
    char data[8];
    co_await from.read_some(eddy::bytes(data));
}

class StrandedWait : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        stranded_waits::set_patience(20ms);
    }
    void TearDown() override {
        stranded_waits::set_patience(10s);
        EngineTest::TearDown();
    }
    /// Has begun when this returns.
    void read_in_background(const stream& from, bool& ended) {
        spawn(loop(), [&]() -> task<> {
            co_await read_from(from);
            ended = true;
        });
        settle();
    }
};
EDDY_ON_EVERY_ENGINE(StrandedWait);

TEST_P(StrandedWait, ForIOEndsTheProgramWithALineThatNamesBothLoops) {
    const auto wait = [] {
        eddy::loop front({.engine = GetParam(), .name = "front"});
        eddy::loop back({.engine = GetParam(), .name = "back"});
        auto [reader, writer] = make_pipe();
        const stream from(back, std::move(reader));
        front.run(read_from(from));
    };
    EXPECT_EXIT(wait(), ::testing::KilledBySignal(SIGABRT),
                "the loop 'front' awaits a sender of the loop 'back', which nobody runs");
}

TEST_P(StrandedWait, ForATimerEndsTheProgramToo) {
    const auto wait = [](auto make) {
        eddy::loop front({.engine = GetParam(), .name = "front"});
        eddy::loop back({.engine = GetParam(), .name = "back"});
        front.run(make(back.get_scheduler()));
    };
    const char* const words = "the loop 'front' awaits a sender of the loop 'back'";
    EXPECT_EXIT(wait([](auto on) { return on.schedule(); }), ::testing::KilledBySignal(SIGABRT),
                words);
    EXPECT_EXIT(wait([](auto on) { return on.schedule_after(1ms); }),
                ::testing::KilledBySignal(SIGABRT), words);
}

TEST_P(StrandedWait, ForAConnectionEndsTheProgramToo) {
    const auto wait = [] {
        eddy::loop front({.engine = GetParam(), .name = "front"});
        eddy::loop back({.engine = GetParam(), .name = "back"});
        front.run(tcp::connect(back, address::loopback_v4(1)));
    };
    EXPECT_EXIT(wait(), ::testing::KilledBySignal(SIGABRT),
                "the loop 'front' awaits a sender of the loop 'back'");
}

TEST_P(StrandedWait, IsNoneIfTheOtherLoopIsRunInTime) {
    stranded_waits::set_patience(1h);
    eddy::loop back({.engine = GetParam(), .name = "back"});
    auto [reader, writer] = make_pipe();
    const stream from(back, std::move(reader));
    bool ended = false;
    read_in_background(from, ended);
    ASSERT_LT(stranded_waits::look(loop()), never) << "it is remembered";
    write_all(writer.get(), "x");
    std::thread other([&] { back.run(); });
    EXPECT_TRUE(until([&] { return ended; }));
    EXPECT_EQ(stranded_waits::look(loop()), never);
    back.stop();
    other.join();
}

TEST_P(StrandedWait, IsForgottenWithEitherLoop) {
    stranded_waits::set_patience(1h);
    std::optional<eddy::loop> front;
    std::optional<eddy::loop> back;
    const auto await = [&] {
        front->post([&] { back->expect_runner(); });
        front->poll();
        EXPECT_LT(stranded_waits::look(*front), never);
    };
    front.emplace(loop_options{.engine = GetParam()});
    back.emplace(loop_options{.engine = GetParam()});
    await();
    back.reset();
    EXPECT_EQ(stranded_waits::look(*front), never);
    back.emplace(loop_options{.engine = GetParam()});
    await();
    front.reset();
    front.emplace(loop_options{.engine = GetParam()});  // in the same place
    EXPECT_EQ(stranded_waits::look(*front), never);
}

struct ignoring {
    using receiver_concept = ex::receiver_tag;
    void set_value(std::size_t) noexcept {}
    void set_error(std::error_code) noexcept {}
    void set_stopped() noexcept {}
};
struct ignoring_connection : ignoring {
    void set_value(tcp::socket) noexcept {}
};

TEST_P(StrandedWait, IsForgottenWithTheOperation) {
    stranded_waits::set_patience(1h);
    eddy::loop back({.engine = GetParam()});
    auto [reader, writer] = make_pipe();
    const stream from(back, std::move(reader));
    char data[8];
    struct holder {
        decltype(ex::connect(from.read_some(eddy::bytes(data)), ignoring())) reading;
    };
    std::unique_ptr<holder> held(
        new holder{ex::connect(from.read_some(eddy::bytes(data)), ignoring())});
    loop().post([&] { ex::start(held->reading); });
    settle();
    ASSERT_LT(stranded_waits::look(loop()), never);
    held.reset();
    EXPECT_EQ(stranded_waits::look(loop()), never);

    const auto connecting = [&] {
        return ex::connect(tcp::connect(back, address::loopback_v4(1)), ignoring_connection());
    };
    struct connection_holder {
        decltype(connecting()) state;
    };
    std::unique_ptr<connection_holder> other(new connection_holder{connecting()});
    loop().post([&] { ex::start(other->state); });
    settle();
    ASSERT_LT(stranded_waits::look(loop()), never);
    other.reset();
    EXPECT_EQ(stranded_waits::look(loop()), never);
}

TEST_P(StrandedWait, IsNoneForALoopThatAnotherThreadRuns) {
    eddy::loop back({.engine = GetParam(), .name = "back"});
    auto [reader, writer] = make_pipe();
    const stream from(back, std::move(reader));
    std::latch running(1);
    back.post([&] { running.count_down(); });
    std::thread other([&] { back.run(); });
    running.wait();
    bool ended = false;
    read_in_background(from, ended);
    EXPECT_EQ(stranded_waits::look(loop()), never);
    turns_in(50ms);  // longer than the patience
    write_all(writer.get(), "x");
    EXPECT_TRUE(until([&] { return ended; }));
    back.stop();
    other.join();
}

#endif

}  // namespace
}  // namespace eddy::test::stranded_wait_test
