#include "support/threads.hpp"
#include "support/engine_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/io.hpp>

#include <csignal>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>

namespace eddy::test::threads_test {
namespace {

/// A program that never asks for a thread has none but its own, at any time between the making of
/// its loop and the end of it.
class LoopThreads : public EngineTest {
protected:
    void TearDown() override {
        EngineTest::TearDown();
        none_started();
    }

    void none_started() const { EXPECT_THAT(census_.started(), ::testing::IsEmpty()); }

    /// Runs `work`, which looks between its steps, on the loop.
    template <class Work>
    void run(Work work) {
        none_started();
        EXPECT_TRUE(loop().run(std::move(work)).has_value());
        none_started();
    }

    task<> echo_once(tcp::acceptor& from) {
        tcp::socket peer = co_await from.accept();
        char data[16];
        const std::size_t count = co_await peer.read_some(eddy::bytes(data));
        none_started();
        co_await peer.write(eddy::bytes(data).first(count));
    }
    task<> ask(address where) {
        tcp::socket server = co_await tcp::connect(loop(), where);
        none_started();
        co_await server.write(eddy::bytes("hello"));
        char answer[5];
        EXPECT_EQ(co_await server.read(eddy::bytes(answer)), sizeof answer);
        none_started();
    }

    task<> wait_for_timers() {
        auto scheduler = loop().get_scheduler();
        co_await scheduler.schedule_after(1ms);
        none_started();
        const auto late = co_await as_result(timeout(scheduler.schedule_after(1h), 1ms));
        EXPECT_EQ(late.error(), errc::timed_out);
        none_started();
    }
    task<> use_a_file(std::string path) {
        file made = co_await file::open(loop(), path, O_RDWR | O_CREAT);
        none_started();
        const std::string much(1 << 20, 'x');
        EXPECT_EQ(co_await made.write(eddy::bytes(much)), much.size());
        co_await made.sync();
        none_started();
        EXPECT_FALSE(made.seek(0));
        std::string back(much.size(), '\0');
        EXPECT_EQ(co_await made.read(eddy::bytes(back)), back.size());
        co_await made.close();
        none_started();
    }
    task<> wait_for_a_signal(signal_source& from) {
        send_signal(SIGUSR1);
        const signal_info info = co_await wait_signal(from, SIGUSR1);
        EXPECT_EQ(info.signum, SIGUSR1);
        none_started();
    }
    task<> use_a_child(child_source& from) {
        process_options options{.program = "cat"};
        options.in = options.out = stdio::pipe();
        options.kill_on_destroy = true;
        process child = spawn_process(loop(), options);
        none_started();
        co_await child.stdin_pipe().write(eddy::bytes("hello"));
        char answer[5];
        EXPECT_EQ(co_await child.stdout_pipe().read(eddy::bytes(answer)), sizeof answer);
        none_started();
        EXPECT_FALSE(child.kill(SIGSTOP));
        const child_event event = co_await wait_state_change(from, child);
        EXPECT_EQ(event.what, child_change::stopped);
        none_started();
        EXPECT_FALSE(child.kill(SIGKILL));
        const exit_status end = co_await child.wait();
        EXPECT_EQ(end.signal, SIGKILL);
        none_started();
    }

    thread_census census_;  // taken before there is a loop
    blocked_signals blocked_{{SIGUSR1, SIGCHLD}};
};
EDDY_ON_EVERY_ENGINE(LoopThreads);

/// Without this the other cases could pass by looking at nothing.
TEST_P(LoopThreads, AThreadOfTheTestIsSeen) {
    std::size_t seen = 0;
    std::thread([&] { seen = census_.started().size(); }).join();
    EXPECT_EQ(seen, 1U);
    EXPECT_TRUE(until_driven([&] { return census_.started().empty(); })) << "joined, but not gone";
}

TEST_P(LoopThreads, TasksAndSocketsStartNone) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    run(ex::when_all(echo_once(acceptor), ask(where)));
}

TEST_P(LoopThreads, TimersOfBothClocksStartNone) {
    run(wait_for_timers());
    timer of_day(
        loop(), [](timer&) noexcept {}, nullptr, timer_clock::system);
    loop().post_at(std::chrono::system_clock::now() + 1ms, of_day);
    EXPECT_TRUE(until([&] { return !of_day.armed(); }));
    none_started();
}

TEST_P(LoopThreads, FilesStartNone) {
    const scratch_directory directory;
    run(use_a_file(directory.path("f")));
}

TEST_P(LoopThreads, SignalsStartNone) {
    signal_source signals(loop(), {SIGUSR1});
    run(wait_for_a_signal(signals));
}

TEST_P(LoopThreads, ChildrenStartNone) {
    child_source children(loop());
    run(use_a_child(children));
}

TEST_P(LoopThreads, WatchesStartNone) {
    const fd_pair pipe = make_pipe();
    int calls = 0;
    auto watch = loop().on_readable(pipe.first.get(), [&](auto&) {
        ++calls;
        none_started();
        return reaction::disarm;
    });
    write_all(pipe.second.get(), "x");
    EXPECT_TRUE(until([&] { return calls == 1; }));
    none_started();
}

}  // namespace
}  // namespace eddy::test::threads_test
