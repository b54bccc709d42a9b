// SPDX-License-Identifier: Apache-2.0
// Accepting connections, one by one and in a stream.
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <set>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace eddy::test::accept_test {
namespace {

class Accept : public EngineTest {
protected:
    /// Takes over the descriptors that `r` was given.
    static std::vector<unique_fd> accepted_by(const recorder& r) {
        std::vector<unique_fd> fds;
        for (const io_result result : r.results()) {
            if (result) {
                fds.emplace_back(result.fd());
            }
        }
        return fds;
    }
};
EDDY_ON_EVERY_ENGINE(Accept);

TEST_P(Accept, GivesAConnectedSocketThatIsClosedOnExec) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    recorder r;
    start(r, accept(d));
    settle();
    ASSERT_FALSE(r.ended());
    const unique_fd client = tcp_connect(port);
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(r.result().ok()) << r.error();
    const unique_fd server(r.result().fd());
    EXPECT_TRUE(is_cloexec(server.get()));
    EXPECT_FALSE(is_nonblocking(server.get()));
    send_all(client.get(), "hello");
    EXPECT_EQ(recv_exactly(server.get(), 5), "hello");
}

TEST_P(Accept, PassesItsFlags) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    const unique_fd client = tcp_connect(port);
    recorder r;
    start(r, accept(d, SOCK_NONBLOCK));
    ASSERT_TRUE(ends(r));
    const unique_fd server(r.result().fd());
    ASSERT_TRUE(server) << r.error();
    EXPECT_TRUE(is_nonblocking(server.get()));
}

TEST_P(Accept, SaysWhoThePeerIs) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    recorder r;
    start(r, accept(d, reinterpret_cast<sockaddr*>(&peer), &size));
    settle();
    const unique_fd client = tcp_connect(port);
    ASSERT_TRUE(ends(r));
    const unique_fd server(r.result().fd());
    sockaddr_in expected{};
    socklen_t expected_size = sizeof expected;
    ::getsockname(client.get(), reinterpret_cast<sockaddr*>(&expected), &expected_size);
    EXPECT_EQ(size, sizeof peer);
    EXPECT_EQ(peer.sin_port, expected.sin_port);
}

TEST_P(Accept, OfManyWaitersServesTheFirstFirst) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    recorder first;
    recorder second;
    start(first, accept(d));
    start(second, accept(d));
    settle();
    const unique_fd one = tcp_connect(port);
    ASSERT_TRUE(until([&] { return first.ended() || second.ended(); }));
    EXPECT_TRUE(first.ended());
    EXPECT_FALSE(second.ended());
    const unique_fd two = tcp_connect(port);
    ASSERT_TRUE(ends(second));
    accepted_by(first);
    accepted_by(second);
}

TEST_P(Accept, InAStreamTakesAllThatWait) {
    constexpr std::size_t count = 200;
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    std::vector<unique_fd> clients;
    for (std::size_t i = 0; i != count; ++i) {
        clients.push_back(tcp_connect(port));
    }
    recorder r;
    start(r, accept_multishot(d));
    ASSERT_TRUE(until([&] { return r.results().size() == count; }));
    EXPECT_FALSE(r.ended());
    for (std::size_t i = 0; i != count; ++i) {
        clients.push_back(tcp_connect(port));
    }
    ASSERT_TRUE(until([&] { return r.results().size() == 2 * count; }));
    EXPECT_FALSE(r.ended());
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
    EXPECT_EQ(r.endings(), 1U);
    EXPECT_EQ(accepted_by(r).size(), 2 * count);
}

TEST_P(Accept, InAStreamIsInTheOrderOfTheConnections) {
    constexpr std::size_t count = 20;
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    std::vector<unique_fd> clients;
    for (std::size_t i = 0; i != count; ++i) {
        clients.push_back(tcp_connect(port));
        send_all(clients.back().get(), std::string(1, static_cast<char>('a' + i)));
    }
    recorder r;
    start(r, accept_multishot(d));
    ASSERT_TRUE(until([&] { return r.results().size() == count; }));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    std::string order;
    for (const unique_fd& fd : accepted_by(r)) {
        order += recv_exactly(fd.get(), 1);
    }
    EXPECT_EQ(order, "abcdefghijklmnopqrst");
}

TEST_P(Accept, InAStreamThatIsCancelledDeliversWhatItHasAndThenEnds) {
    constexpr std::size_t count = 50;
    tcp_listener listener;
    const unsigned short port = listener.port();
    std::vector<unique_fd> clients;
    std::vector<unique_fd> servers;
    {
        const descriptor d = attach(listener.take());
        recorder r([&](recorder& self) {
            loop().cancel(self.operation());  // again and again: only the first counts
        });
        for (std::size_t i = 0; i != count; ++i) {
            clients.push_back(tcp_connect(port));
        }
        start(r, accept_multishot(d));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        for (std::size_t i = 0; i + 1 < r.results().size(); ++i) {
            EXPECT_TRUE(r.results()[i].ok());
        }
        servers = accepted_by(r);
        EXPECT_GE(servers.size(), 1U);
    }
    settle();
    // Each connection was delivered, or was refused when the listener was closed: none is in limbo.
    std::size_t served = 0;
    for (const unique_fd& fd : servers) {
        send_all(fd.get(), "s");
    }
    for (const unique_fd& client : clients) {
        ASSERT_TRUE(becomes_ready(client.get(), 1));
        char byte = 0;
        served += ::recv(client.get(), &byte, 1, 0) == 1 ? 1U : 0U;
    }
    EXPECT_EQ(served, servers.size());
}

TEST_P(Accept, OnAUnixListenerWorksToo) {
    const scratch_directory directory;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    directory.path("s").copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    unique_fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), generic, sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 8), 0);
    const descriptor d = attach(std::move(listener));
    recorder r;
    start(r, accept_multishot(d));
    unique_fd one(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    unique_fd two(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(one.get(), generic, sizeof address), 0);
    ASSERT_TRUE(until([&] { return r.results().size() == 1; }));
    ASSERT_EQ(::connect(two.get(), generic, sizeof address), 0);
    ASSERT_TRUE(until([&] { return r.results().size() == 2; }));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    accepted_by(r);
}

TEST_P(Accept, OnASocketThatDoesNotListenIsTheLastResult) {
    const descriptor d = attach(tcp_socket());
    recorder single;
    start(single, accept(d));
    ASSERT_TRUE(ends(single));
    EXPECT_EQ(single.error(), std::errc::invalid_argument);
    recorder stream;
    start(stream, accept_multishot(d));
    ASSERT_TRUE(ends(stream));
    EXPECT_EQ(stream.error(), std::errc::invalid_argument);
    EXPECT_EQ(stream.results().size(), 1U);
}

TEST_P(Accept, InAStreamIsStillAStreamAfterAnotherFailed) {
    const descriptor wrong = attach(tcp_socket());
    recorder failed;
    start(failed, accept_multishot(wrong));
    ASSERT_TRUE(ends(failed));
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    recorder r;
    start(r, accept_multishot(d));
    std::vector<unique_fd> clients;
    for (int i = 0; i != 5; ++i) {
        clients.push_back(tcp_connect(port));
    }
    ASSERT_TRUE(until([&] { return r.results().size() == 5; }));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    accepted_by(r);
}

TEST_P(Accept, ThatFailedAtOnceAndIsAbandonedClosesNothing) {
    const int ended = in_child([&] {
        const unique_fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        ::dup2(null.get(), 0);
        eddy::loop l({.engine = GetParam()});
        recorder failed;
        const descriptor none;
        failed.start(l, accept_multishot(none));
        l.abandon(failed.operation());
        EXPECT_FALSE(failed.operation().pending());
        EXPECT_TRUE(is_open(0));
        tcp_listener listener;
        const unsigned short port = listener.port();
        const descriptor d(l, listener.take());
        std::vector<unique_fd> clients;
        for (int i = 0; i != 5; ++i) {
            clients.push_back(tcp_connect(port));
        }
        std::vector<unique_fd> servers;
        recorder r([&](recorder& self) {
            servers.emplace_back(self.result().fd());
            if (servers.size() == 5) {
                l.stop();
            }
        });
        r.start(l, accept_multishot(d));
        l.run_for(patience);
        EXPECT_EQ(servers.size(), 5U);
        EXPECT_TRUE(failed.results().empty());
        EXPECT_TRUE(is_open(0));
        return 0;
    });
    EXPECT_EQ(ended, 0);
}

TEST_P(Accept, OfAStreamEndsAtItsDeadlineAlsoIfTheFirstIsThereAtOnce) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    const unique_fd one = tcp_connect(port);
    const unique_fd two = tcp_connect(port);
    std::vector<unique_fd> servers;
    recorder stream([&](recorder& self) {
        if (self.result().ok()) {
            servers.emplace_back(self.result().fd());
        }
        if (self.ended()) {
            loop().stop();
        }
    });
    recorder first([&](recorder& self) {
        servers.emplace_back(self.result().fd());
        start(stream, accept_multishot(d), clock::now() + 100ms);
    });
    start(first, accept(d));
    loop().run_for(patience);
    EXPECT_EQ(servers.size(), 2U);
    EXPECT_TRUE(stream.ended());
    EXPECT_EQ(stream.error(), make_error_code(errc::timed_out));
}

TEST_P(Accept, OfMoreThanTheKernelHasRoomForLeavesRoomToAbandonAnother) {
    constexpr std::size_t amount = 1500;
    tcp_listener listener(4096);
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    std::vector<unique_fd> clients;
    for (std::size_t i = 0; i != amount; ++i) {
        clients.push_back(tcp_connect(port));
    }
    fd_pair pipe = make_pipe();
    const descriptor idle = attach(std::move(pipe.first));
    std::string buffer(8, '\0');
    recorder other;
    start(other, read(idle, bytes(buffer)));
    std::vector<unique_fd> servers;
    recorder r([&](recorder& self) {
        servers.emplace_back(self.result().fd());
        if (servers.size() == 1) {
            loop().abandon(other.operation());
            EXPECT_FALSE(other.operation().pending());
        }
        if (servers.size() == amount) {
            loop().stop();
        }
    });
    start(r, accept_multishot(d));
    loop().run_for(patience);
    EXPECT_EQ(servers.size(), amount);
    EXPECT_TRUE(other.results().empty());
    r.then(nullptr);
    loop().cancel(r.operation());
    EXPECT_TRUE(ends(r));
}

}  // namespace
}  // namespace eddy::test::accept_test
