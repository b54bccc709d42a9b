// SPDX-License-Identifier: Apache-2.0
// Connecting, and shutting a connection down.
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"

#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace eddy::test::connect_test {
namespace {

class Connect : public EngineTest {
protected:
    static sockaddr_in loopback(unsigned short port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
    static sockaddr_un unix_address(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        return address;
    }
    static unique_fd unix_socket() {
        return unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }
    template <class Address>
    static io_request connect_to(const descriptor& d, const Address& address) {
        return connect(d, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
};
EDDY_ON_EVERY_ENGINE(Connect);

TEST_P(Connect, ToAListenerGivesAConnection) {
    for (const bool nonblocking : {false, true}) {
        const tcp_listener listener;
        const sockaddr_in address = loopback(listener.port());
        unique_fd fd = tcp_socket();
        set_nonblocking(fd.get(), nonblocking);
        const descriptor d = attach(std::move(fd));
        recorder r;
        start(r, connect_to(d, address));
        ASSERT_TRUE(ends(r));
        ASSERT_EQ(r.result(), io_result::value(0)) << r.error();
        const unique_fd server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        send_all(server.get(), "welcome");
        std::string buffer(16, '\0');
        start(r, recv(d, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(buffer.substr(0, r.count()), "welcome");
    }
}

TEST_P(Connect, WhereNobodyListensIsRefused) {
    for (const bool nonblocking : {false, true}) {
        sockaddr_in address{};
        {
            const tcp_listener gone;
            address = loopback(gone.port());
        }
        unique_fd fd = tcp_socket();
        set_nonblocking(fd.get(), nonblocking);
        const descriptor d = attach(std::move(fd));
        recorder r;
        start(r, connect_to(d, address));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::connection_refused);
    }
}

TEST_P(Connect, AfterARefusalCanSucceedOnTheSameSocket) {
    const tcp_listener listener;
    sockaddr_in wrong{};
    {
        const tcp_listener gone;
        wrong = loopback(gone.port());
    }
    const sockaddr_in right = loopback(listener.port());
    const descriptor d = attach(tcp_socket());
    recorder r;
    start(r, connect_to(d, wrong));
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.error(), std::errc::connection_refused);
    start(r, connect_to(d, right));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    std::string buffer(4, '\0');
    recorder reader;
    start(reader, recv(d, bytes(buffer)));
    settle();
    EXPECT_FALSE(reader.ended()) << reader.error();
}

TEST_P(Connect, ToAUnixPathThatDoesNotExistFails) {
    const scratch_directory directory;
    const sockaddr_un address = unix_address(directory.path("nobody"));
    const descriptor d = attach(unix_socket());
    recorder r;
    start(r, connect_to(d, address));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::no_such_file_or_directory);
}

TEST_P(Connect, ToAUnixListenerWhoseBacklogIsFullWaitsWithoutSpinning) {
    for (const bool nonblocking : {false, true}) {
        const scratch_directory directory;
        const sockaddr_un address = unix_address(directory.path("s"));
        const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
        const unique_fd listener = unix_socket();
        ASSERT_EQ(::bind(listener.get(), generic, sizeof address), 0);
        ASSERT_EQ(::listen(listener.get(), 0), 0);
        const unique_fd first = unix_socket();
        ASSERT_EQ(::connect(first.get(), generic, sizeof address), 0);

        unique_fd fd = unix_socket();
        set_nonblocking(fd.get(), nonblocking);
        const descriptor d = attach(std::move(fd));
        recorder r;
        start(r, connect_to(d, address));
        EXPECT_LE(turns_in(200ms), 50U);
        ASSERT_FALSE(r.ended()) << r.error();
        const unique_fd one(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    }
}

TEST_P(Connect, ToAFullUnixListenerCanBeCancelled) {
    const scratch_directory directory;
    const sockaddr_un address = unix_address(directory.path("s"));
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    const unique_fd listener = unix_socket();
    ASSERT_EQ(::bind(listener.get(), generic, sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 0), 0);
    const unique_fd first = unix_socket();
    ASSERT_EQ(::connect(first.get(), generic, sizeof address), 0);
    for (const bool nonblocking : {false, true}) {
        unique_fd fd = unix_socket();
        set_nonblocking(fd.get(), nonblocking);
        const descriptor d = attach(std::move(fd));
        recorder r;
        start(r, connect_to(d, address));
        settle();
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
    }
}

TEST_P(Connect, ThatNobodyAnswersEndsAtItsDeadline) {
    // A listener with a full backlog drops what comes: the connect stays in progress.
    const tcp_listener listener(0);
    const sockaddr_in address = loopback(listener.port());
    std::vector<descriptor> sockets;
    std::vector<std::unique_ptr<recorder>> attempts;
    for (int i = 0; i != 4; ++i) {
        sockets.push_back(attach(tcp_socket()));
        attempts.push_back(std::make_unique<recorder>());
        start(*attempts.back(), connect_to(sockets.back(), address), clock::now() + 300ms);
    }
    ASSERT_TRUE(ends(*attempts.back()));
    EXPECT_EQ(attempts.back()->error(), make_error_code(errc::timed_out));
}

TEST_P(Connect, ShutdownTellsThePeerAndLeavesTheOtherDirection) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, shutdown(d, SHUT_WR));
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.result(), io_result::value(0)) << r.error();
    EXPECT_EQ(read_to_end(pair.second.get()), "");
    send_all(pair.second.get(), "still");
    std::string buffer(8, '\0');
    start(r, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "still");
}

/// On a unix socket, a connect waits until the listener's backlog has room. Operations that are
/// queued behind it must not take that wait for a failure.
TEST_P(Connect, ThatWaitsForRoomSucceedsWithASendBehindIt) {
    const scratch_directory directory;
    const sockaddr_un address = unix_address(directory.path("s"));
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    const unique_fd listener = unix_socket();
    ASSERT_EQ(::bind(listener.get(), where, sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 0), 0);
    std::vector<unique_fd> others;
    for (;;) {  // until the backlog is full
        unique_fd fd = unix_socket();
        set_nonblocking(fd.get(), true);
        if (::connect(fd.get(), where, sizeof address) != 0) {
            break;
        }
        others.push_back(std::move(fd));
    }
    const descriptor d = attach(unix_socket());
    recorder connecting;
    recorder sending;
    const auto stop_after_both = [&](recorder&) {
        if (connecting.ended() && sending.ended()) {
            loop().stop();
        }
    };
    connecting.then(stop_after_both);
    sending.then(stop_after_both);
    std::vector<unique_fd> accepted;
    alarm make_room(loop(), [&] {
        for (std::size_t i = 0; i != others.size(); ++i) {
            accepted.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        }
    });
    start(connecting, connect_to(d, address));
    start(sending, send(d, bytes("hello")));
    loop().post_after(50ms, make_room);
    loop().run_for(patience);
    EXPECT_EQ(connecting.result(), io_result::value(0)) << connecting.error();
    EXPECT_TRUE(connecting.ended());
    EXPECT_TRUE(sending.ended());
    EXPECT_TRUE(sending.result().ok() || sending.error() == std::errc::not_connected)
        << sending.error();
}

TEST_P(Connect, ShutdownOfReadingEndsAPendingRead) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder reader;
    start(reader, recv(d, bytes(buffer)));
    settle();
    recorder r;
    start(r, shutdown(d, SHUT_RD));
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(reader.result(), io_result::value(0));
}

TEST_P(Connect, ShutdownOfWhatIsNotConnectedIsAnError) {
    const descriptor d = attach(tcp_socket());
    recorder r;
    start(r, shutdown(d, SHUT_RDWR));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::not_connected);
}

}  // namespace
}  // namespace eddy::test::connect_test
