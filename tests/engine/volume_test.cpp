// SPDX-License-Identifier: Apache-2.0
// More at once than the queues hold; and who goes first.
#include "support/engine_fixture.hpp"

#include <algorithm>

#include <sys/socket.h>

namespace eddy::test::volume_test {
namespace {

class Volume : public EngineTest {
protected:
    static constexpr std::size_t many = 5000;
};
EDDY_ON_EVERY_ENGINE(Volume);

TEST_P(Volume, OfOperationsBeforeTheFirstRunAllComplete) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", std::string(many, 'x')));
    std::vector<char> buffers(many, '-');
    std::vector<std::unique_ptr<recorder>> readers;
    std::size_t done = 0;
    for (std::size_t i = 0; i != many; ++i) {
        readers.push_back(std::make_unique<recorder>([&](recorder& r) {
            ++done;
            EXPECT_EQ(r.count(), 1U) << r.error();
        }));
        start(*readers.back(), read(d, std::as_writable_bytes(std::span(&buffers[i], 1)),
                                    static_cast<std::int64_t>(i)));
    }
    ASSERT_TRUE(until([&] { return done == many; }));
    EXPECT_EQ(std::count(buffers.begin(), buffers.end(), 'x'), static_cast<long>(many));
}

TEST_P(Volume, OfOperationsFromInsideACompletionAllComplete) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const scratch_directory directory;
    const descriptor f = attach(directory.file("f", std::string(many, 'x')));
    std::vector<char> buffers(many, '-');
    std::vector<std::unique_ptr<recorder>> readers;
    std::size_t done = 0;
    std::string buffer(8, '\0');
    recorder trigger([&](recorder&) {
        for (std::size_t i = 0; i != many; ++i) {
            readers.push_back(std::make_unique<recorder>([&](recorder&) { ++done; }));
            start(*readers.back(), read(f, std::as_writable_bytes(std::span(&buffers[i], 1)),
                                        static_cast<std::int64_t>(i)));
        }
    });
    start(trigger, recv(d, bytes(buffer)));
    turns_in(1ms);
    send_all(pair.second.get(), "go");
    ASSERT_TRUE(until([&] { return done == many; }));
    EXPECT_EQ(std::count(buffers.begin(), buffers.end(), 'x'), static_cast<long>(many));
}

TEST_P(Volume, OfWaitsThatBecomeReadyTogetherAllComplete) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<std::unique_ptr<recorder>> waiters;
    std::size_t done = 0;
    for (std::size_t i = 0; i != many; ++i) {
        waiters.push_back(std::make_unique<recorder>([&](recorder&) { ++done; }));
        start(*waiters.back(), wait(d, interest::readable));
    }
    turns_in(1ms);
    ASSERT_EQ(done, 0U);
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(until([&] { return done == many; }));
}

TEST_P(Volume, OfCancellationsAllComplete) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::vector<std::unique_ptr<recorder>> waiters;
    std::size_t canceled = 0;
    for (std::size_t i = 0; i != many; ++i) {
        waiters.push_back(std::make_unique<recorder>([&](recorder& r) {
            canceled += r.error() == std::errc::operation_canceled ? 1U : 0U;
        }));
        start(*waiters.back(), wait(d, interest::readable));
    }
    turns_in(1ms);
    for (auto& r : waiters) {
        loop().cancel(r->operation());
    }
    ASSERT_TRUE(until([&] { return canceled == many; }));
    settle();
    EXPECT_EQ(canceled, many);
}

TEST_P(Volume, OfConnectionsInAStreamComesInOrderAndComplete) {
    // More than a completion queue holds would take as many descriptors; this is many batches.
    constexpr std::size_t count = 2000;
    make_loop({.batch_max = 3});
    tcp_listener listener(4096);
    const unsigned short port = listener.port();
    std::vector<unique_fd> clients;
    std::vector<unique_fd> servers;
    {
        const descriptor d = attach(listener.take());
        recorder r([&](recorder& self) {
            if (self.result()) {
                servers.emplace_back(self.result().fd());
            }
        });
        start(r, accept_multishot(d));
        for (std::size_t i = 0; i != count; ++i) {
            clients.push_back(tcp_connect(port));
        }
        ASSERT_TRUE(until([&] { return servers.size() == count; }));
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
    }
    for (std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
        send_all(clients[i].get(), "x");
        EXPECT_EQ(recv_exactly(servers[i].get(), 1), "x");
    }
}

TEST_P(Volume, OfResultsOnTheWayDoesNotKeepADescriptorFromBeingGivenBack) {
    constexpr std::size_t count = 1500;
    tcp_listener listener(4096);
    const unsigned short port = listener.port();
    descriptor d = attach(listener.take());
    std::vector<unique_fd> clients;
    std::vector<unique_fd> servers;
    recorder r([&](recorder& self) {
        if (self.result()) {
            servers.emplace_back(self.result().fd());
        }
    });
    start(r, accept_multishot(d));
    loop().run(run_mode::stopped, {.until = clock::now() + 1ms});
    for (std::size_t i = 0; i != count; ++i) {
        clients.push_back(tcp_connect(port));
    }
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 1});
    unique_fd back;
    ASSERT_FALSE(d.release(back));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
    while (servers.size() != count) {
        unique_fd next(::accept4(back.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        ASSERT_TRUE(next) << servers.size();
        servers.push_back(std::move(next));
    }
}

class Priority : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Priority);

TEST_P(Priority, DecidesWhoOfTheReadyOnesGoesFirst) {
    std::vector<fd_pair> pairs;
    std::vector<descriptor> descriptors;
    std::vector<std::string> buffers(4, std::string(8, '\0'));
    std::vector<std::unique_ptr<recorder>> readers;
    std::string order;
    const std::string levels = "3102";
    for (std::size_t i = 0; i != 4; ++i) {
        pairs.push_back(tcp_pair());
        descriptors.push_back(attach(std::move(pairs.back().first)));
        readers.push_back(
            std::make_unique<recorder>([&order, &levels, i](recorder&) { order += levels[i]; }));
        readers.back()->operation().set_priority(static_cast<priority_level>(levels[i] - '0'));
        start(*readers.back(), recv(descriptors.back(), bytes(buffers[i])));
    }
    turns_in(1ms);
    for (const fd_pair& pair : pairs) {
        send_all(pair.second.get(), "x");
    }
    for (const descriptor& d : descriptors) {
        ASSERT_TRUE(on(engine_kind::io_uring) || becomes_ready(d.native_handle(), 1));
    }
    ASSERT_TRUE(until([&] { return order.size() == 4; }));
    EXPECT_EQ(order, "0123");
}

/// On io_uring the kernel reads when it is told to.
class PriorityOfReadiness : public EngineTest {};
EDDY_ON_READINESS_ENGINES(PriorityOfReadiness);

TEST_P(PriorityOfReadiness, LeavesTheBytesOfTheLastInTheKernelWhileOthersRun) {
    make_loop({.batch_max = 1});
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder last;
    last.operation().set_priority(63);
    start(last, recv(d, bytes(buffer)));
    turns_in(1ms);
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(becomes_ready(d.native_handle(), 1));
    struct worker {
        entry node;
        eddy::loop* home;
        int left = 20;
        const descriptor* seen;
        int untouched = 0;
        void run() noexcept {
            untouched += bytes_waiting(seen->native_handle()) == 3 ? 1 : 0;
            if (--left != 0) {
                home->post<worker, &worker::node, &worker::run>(*this);
            }
        }
    } work{{}, &loop(), 20, &d, 0};
    loop().post<worker, &worker::node, &worker::run>(work);
    ASSERT_TRUE(ends(last));
    EXPECT_EQ(work.left, 0);
    EXPECT_EQ(work.untouched, 20);
    EXPECT_EQ(last.count(), 3U);
}

}  // namespace
}  // namespace eddy::test::volume_test
