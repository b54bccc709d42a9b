// SPDX-License-Identifier: Apache-2.0
#include "support/threads.hpp"
#include "loop/host.hpp"
#include "support/engine_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/async/async.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/io.hpp>
#include <eddy/loop/embedding.hpp>

#include <csignal>
#include <mutex>
#include <set>
#include <span>
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

    task<> answer_datagrams(udp::socket& server) {
        char data[16];
        const datagram got = co_await server.recv_from(eddy::bytes(data));
        none_started();
        co_await server.send_to(eddy::bytes(data).first(got.size), got.from);
    }
    task<> send_datagrams(address where) {
        udp::socket client(loop(), address::loopback_v4(0));
        co_await client.send_to(eddy::bytes("hello"), where);
        char answer[16];
        const datagram got = co_await client.recv_from(eddy::bytes(answer));
        EXPECT_EQ(got.size, 5U);
        none_started();
    }
    /// Accepts and receives with operations that go on by themselves.
    task<> serve_ahead(tcp::acceptor& from) {
        incoming<tcp::socket> connections(from);
        for (int i = 0; i != 2; ++i) {
            const tcp::socket peer = co_await connections.next();
            incoming<lease> received(peer);
            while (const lease some = co_await received.next()) {
                none_started();
                co_await peer.write(some.data());
            }
        }
    }
    task<> ask_and_end(address where) {
        for (int i = 0; i != 2; ++i) {
            const tcp::socket server = co_await tcp::connect(loop(), where);
            co_await server.write(eddy::bytes("hello"));
            char answer[5];
            EXPECT_EQ(co_await server.read(eddy::bytes(answer)), sizeof answer);
            none_started();
            co_await server.shutdown(shutdown_side::send);
        }
    }
    /// More than a socket holds and than one call moves.
    static constexpr std::size_t file_size = 3'000'000;
    task<> send_a_file(tcp::acceptor& from, file& content) {
        const tcp::socket peer = co_await from.accept();
        EXPECT_EQ(co_await send_file(peer, content, 0, file_size), file_size);
        none_started();
    }
    task<> receive_a_file(address where) {
        const tcp::socket server = co_await tcp::connect(loop(), where);
        std::string content(file_size, '\0');
        EXPECT_EQ(co_await server.read(eddy::bytes(content)), file_size);
        none_started();
    }

    /// The threads that tasks ran on.
    struct participants {
        void add() {
            const std::lock_guard lock(mutex);
            threads.insert(std::this_thread::get_id());
        }
        std::size_t count() {
            const std::lock_guard lock(mutex);
            return threads.size();
        }
        std::mutex mutex;
        std::set<std::thread::id> threads;
    };
    static task<> take_part(eddy::loop& home, participants& seen) {
        co_await sleep_for(1ms);
        auto [here, there] = local::make_pair(home);
        co_await there.write(eddy::bytes("x"));
        char byte = 0;
        EXPECT_EQ(co_await here.read(eddy::bytes(std::span(&byte, 1))), 1U);
        seen.add();
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
    timer of_day(loop(), [](timer&) noexcept {}, nullptr, timer_clock::system);
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

TEST_P(LoopThreads, DatagramsStartNone) {
    udp::socket server(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(server.local_address(where));
    run(ex::when_all(answer_datagrams(server), send_datagrams(where)));
}

TEST_P(LoopThreads, OperationsThatGoOnByThemselvesStartNone) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    run(ex::when_all(serve_ahead(acceptor), ask_and_end(where)));
}

TEST_P(LoopThreads, SendingAFileStartsNone) {
    const scratch_directory directory;
    file content(loop(), directory.file("f", std::string(file_size, 'x')));
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    run(ex::when_all(send_a_file(acceptor, content), receive_a_file(where)));
}

using EmbeddedLoopThreads = LoopThreads;
INSTANTIATE_TEST_SUITE_P(Engine, EmbeddedLoopThreads,
                         ::testing::Values(engine_kind::epoll, engine_kind::io_uring), engine_name);

TEST_P(EmbeddedLoopThreads, AnEmbeddingStartsNone) {
    embedding inner(loop());
    none_started();
    bare_host host(inner);
    bool ended = false;
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    spawn(loop(), ex::when_all(echo_once(acceptor), ask(where), wait_for_timers()) |
                      ex::then([&] { ended = true; }));
    EXPECT_TRUE(host.until([&] { return ended; }));
    none_started();
}

TEST_P(LoopThreads, AGroupHasOnePerLoopAndNoOther) {
    constexpr std::size_t size = 3;
    loop_group group({.size = size, .loop = {.engine = GetParam()}});
    none_started();
    participants seen;
    for (std::size_t i = 0; i != size; ++i) {
        spawn(group.at(i), take_part(group.at(i), seen));
    }
    none_started();
    group.start();
    EXPECT_TRUE(until_driven([&] { return seen.count() == size; }));
    EXPECT_EQ(census_.started().size(), size);
    group.stop();
    group.join();
    EXPECT_TRUE(until_driven([&] { return census_.started().empty(); })) << "joined, but not gone";
}

}  // namespace
}  // namespace eddy::test::threads_test
