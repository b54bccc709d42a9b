// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "kernel/call.hpp"

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>
#include <eddy/io/tcp/listen_on_each.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace eddy::test::tcp_test {
namespace {

address where_is(const auto& socket) {
    address found;
    EXPECT_FALSE(socket.local_address(found));
    return found;
}

class TcpTest : public IoTest {
protected:
    struct connection {
        tcp::socket server;
        tcp::socket client;
    };

    connection connected(const address& at = address::loopback_v4(0)) {
        tcp::acceptor acceptor(loop(), at);
        auto [server, client] =
            run_both(acceptor.accept(), tcp::connect(loop(), where_is(acceptor)));
        return {std::move(server), std::move(client)};
    }
};

TEST_P(TcpTest, AcceptsAndConnectsOverV4AndV6) {
    for (const address& at : {address::loopback_v4(0), address::loopback_v6(0)}) {
        auto [server, client] = connected(at);
        address peer;
        ASSERT_FALSE(server.peer_address(peer));
        EXPECT_EQ(peer, where_is(client));
        ASSERT_FALSE(client.peer_address(peer));
        EXPECT_EQ(peer, where_is(server));
        EXPECT_TRUE(is_cloexec(server.native_handle()));
        EXPECT_TRUE(is_cloexec(client.native_handle()));
    }
}

bool sends_at_once(const tcp::socket& socket) {
    option::no_delay on{};
    EXPECT_FALSE(socket.get_option(on));
    return on.value;
}

TEST_P(TcpTest, SendsSmallWritesAtOnceUnlessAskedOtherwise) {
    for (const address& at : {address::loopback_v4(0), address::loopback_v6(0)}) {
        auto [server, client] = connected(at);
        EXPECT_TRUE(sends_at_once(server));
        EXPECT_TRUE(sends_at_once(client));
    }
    tcp::acceptor acceptor(loop(), address::loopback_v4(0), {.no_delay = false});
    auto [server, client] =
        run_both(acceptor.accept(), tcp::connect(loop(), where_is(acceptor), {.no_delay = false}));
    EXPECT_FALSE(sends_at_once(server));
    EXPECT_FALSE(sends_at_once(client));
}

TEST_P(TcpTest, SetsNoOptionOfAConnectionThatItAccepts) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    kernel::fail(kernel::call::setsockopt, 0, 0, 100);  // only counts them
    auto [server, client] = run_both(acceptor.accept(), tcp::connect(loop(), where_is(acceptor)));
    EXPECT_EQ(kernel::fired(kernel::call::setsockopt), 1U) << "the connecting side sets one";
    kernel::fail_nothing();
}

TEST_P(TcpTest, SendsSmallWritesAtOnceFromWhicheverAddressAnsweredFirst) {
    const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    const address to[] = {where_is(acceptor)};
    EXPECT_TRUE(sends_at_once(run(tcp::connect_any(loop(), to))));
    EXPECT_FALSE(sends_at_once(run(tcp::connect_any(loop(), to, 250ms, {.no_delay = false}))));
}

TEST_P(TcpTest, AListenerThatIsHandedOverKeepsItsOptions) {
    for (const bool no_delay : {false, true}) {
        unique_fd fd;
        ASSERT_FALSE(tcp::open_listener(address::loopback_v4(0), {.no_delay = no_delay}, fd));
        const tcp::acceptor acceptor(loop(), std::move(fd));
        option::no_delay listening{};
        ASSERT_FALSE(acceptor.get_option(listening));
        EXPECT_EQ(listening.value, no_delay);
        auto [server, client] =
            run_both(acceptor.accept(), tcp::connect(loop(), where_is(acceptor)));
        EXPECT_EQ(sends_at_once(server), no_delay);
        EXPECT_TRUE(sends_at_once(client)) << "that is for its own maker to say";
    }
}

TEST_P(TcpTest, ASocketThatIsHandedOverKeepsItsOptions) {
    const tcp::socket plain(loop(), tcp_socket());
    EXPECT_FALSE(sends_at_once(plain));
}

TEST_P(TcpTest, AnswersInTwoSmallWritesDoNotWaitForAcknowledgements) {
    auto [server, client] = connected();
    std::array<duration, 21> taken{};
    for (duration& time : taken) {
        const time_point before = clock::now();
        run(client.write(bytes("?")));
        char question = 0;
        ASSERT_EQ(run(server.read(bytes(std::span(&question, 1)))), 1U);
        run(server.write(bytes("an")));
        run(server.write(bytes("swer")));
        char answer[6];
        ASSERT_EQ(run(client.read(bytes(answer))), 6U);
        time = clock::now() - before;
    }
    std::nth_element(taken.begin(), taken.begin() + 10, taken.end());
    EXPECT_LT(taken[10], 30ms) << "most have waited 40 ms";
}

TEST_P(TcpTest, CarriesBytesBothWays) {
    auto [server, client] = connected();
    run(client.write(bytes("ping")));
    char buffer[4];
    ASSERT_EQ(run(server.read(bytes(buffer))), 4U);
    EXPECT_EQ(std::string(buffer, 4), "ping");
    run(server.write(bytes("pong")));
    ASSERT_EQ(run(client.read_some(bytes(buffer))), 4U);
    EXPECT_EQ(std::string(buffer, 4), "pong");
}

TEST_P(TcpTest, MovesMuchThroughASmallBuffer) {
    auto [server, client] = connected();
    EXPECT_FALSE(client.set_option(option::send_buffer{4096}));
    std::string sent(2'000'000, '\0');
    for (std::size_t i = 0; i != sent.size(); ++i) {
        sent[i] = static_cast<char>(i * 31 + i / 997);
    }
    std::string received(sent.size(), '\0');
    const auto [read, written] = run_both(server.read(bytes(received)), client.write(bytes(sent)));
    EXPECT_EQ(read, sent.size());
    EXPECT_EQ(written, sent.size());
    EXPECT_TRUE(received == sent);
}

TEST_P(TcpTest, AHalfClosedPeerCanStillBeAnswered) {
    auto [server, client] = connected();
    run(client.write(bytes("last")));
    run(client.shutdown(shutdown_side::send));
    char buffer[16];
    EXPECT_EQ(run(server.read(bytes(buffer))), 4U);
    EXPECT_EQ(run(server.read_some(bytes(buffer))), 0U);
    run(server.write(bytes("answer")));
    EXPECT_EQ(run(client.read_some(bytes(buffer))), 6U);
    EXPECT_EQ(error_of(client.write(bytes("more"))), std::errc::broken_pipe);
}

TEST_P(TcpTest, APeerThatResetsIsAConnectionReset) {
    auto [server, client] = connected();
    ASSERT_FALSE(client.set_option(option::reset_on_close));
    char buffer[16];
    started reading(loop(), server.read_some(bytes(buffer)));
    settle();
    run(client.close());
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), std::errc::connection_reset);
    EXPECT_EQ(error_of(server.write(bytes("x"))), std::errc::broken_pipe);
}

TEST_P(TcpTest, APeerThatNeverReadsBlocksTheWriterUntilItIsStopped) {
    auto [server, client] = connected();
    const std::string much(32'000'000, 'x');
    started writing(loop(), client.write(bytes(much)));
    turns_in(20ms);
    ASSERT_FALSE(writing.ended());
    writing.stop();
    ASSERT_TRUE(ends(writing));
    ASSERT_TRUE(writing.has_value());
    EXPECT_GT(writing.value(), 0U);
    EXPECT_LT(writing.value(), much.size());
}

TEST_P(TcpTest, ReadsOfAClosedSocketEndAsCanceledAndNewOnesAsBad) {
    auto [server, client] = connected();
    char buffer[16];
    started reading(loop(), server.read_some(bytes(buffer)));
    settle();
    run(server.close());
    ASSERT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), canceled);
    EXPECT_EQ(error_of(server.read_some(bytes(buffer))), bad_fd);
    EXPECT_EQ(error_of(server.write(bytes("x"))), bad_fd);
    EXPECT_EQ(error_of(server.shutdown(shutdown_side::both)), bad_fd);
    EXPECT_EQ(server.set_option(option::no_delay{true}), bad_fd);
    address ignored;
    EXPECT_EQ(server.local_address(ignored), bad_fd);
    tcp::acceptor none;
    EXPECT_EQ(error_of(none.accept()), bad_fd);
    EXPECT_EQ(error_of(none.accept_fd()), bad_fd);
}

TEST_P(TcpTest, OptionsAreSetAndRead) {
    auto [server, client] = connected();
    for (const bool on : {true, false}) {
        EXPECT_FALSE(client.set_option(option::no_delay{on}));
        EXPECT_FALSE(client.set_option(option::keep_alive{on}));
        option::no_delay no_delay{!on};
        option::keep_alive keep_alive{!on};
        EXPECT_FALSE(client.get_option(no_delay));
        EXPECT_FALSE(client.get_option(keep_alive));
        EXPECT_EQ(no_delay.value, on);
        EXPECT_EQ(keep_alive.value, on);
    }
    EXPECT_FALSE(client.set_option(option::linger{{.l_onoff = 1, .l_linger = 7}}));
    option::linger linger;
    EXPECT_FALSE(client.get_option(linger));
    EXPECT_EQ(linger.value.l_linger, 7);
    EXPECT_FALSE(client.set_option(option::reset_on_close));
    option::send_buffer size;
    EXPECT_FALSE(client.set_option(option::send_buffer{8192}));
    EXPECT_FALSE(client.get_option(size));
    EXPECT_EQ(size.value, 16384);
    option::v6_only wrong;
    EXPECT_TRUE(client.get_option(wrong));
    EXPECT_FALSE(wrong.value);
}

TEST_P(TcpTest, ARefusedConnectionIsAnError) {
    address gone;
    {
        tcp::acceptor acceptor(loop(), address::loopback_v4(0));
        gone = where_is(acceptor);
        run(acceptor.close());
    }
    EXPECT_EQ(error_of(tcp::connect(loop(), gone)), std::errc::connection_refused);
}

TEST_P(TcpTest, OtherFamiliesAreRefused) {
    for (const address& wrong : {address(), address::from("unix:/x"), address::from("unix:@x")}) {
        EXPECT_EQ(error_of(tcp::connect(loop(), wrong)), std::errc::address_family_not_supported);
        tcp::acceptor acceptor;
        EXPECT_EQ(tcp::acceptor::listen(loop(), wrong, acceptor),
                  std::errc::address_family_not_supported);
        EXPECT_FALSE(acceptor);
    }
}

TEST_P(TcpTest, AnAcceptorThatCannotListenNamesTheAddress) {
    tcp::acceptor first(loop(), address::loopback_v4(0));
    const address taken = where_is(first);
    try {
        tcp::acceptor second(loop(), taken);
        FAIL() << "it has not thrown";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::address_in_use);
        EXPECT_NE(std::string(e.what()).find(taken.to_string()), std::string::npos) << e.what();
    }
}

TEST_P(TcpTest, AStoppedAcceptLeavesTheConnectionForTheNext) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    started accepting(loop(), acceptor.accept());
    settle();
    accepting.stop();
    ASSERT_TRUE(ends(accepting));
    EXPECT_TRUE(accepting.stopped());
    const auto [server, client] =
        run_both(acceptor.accept(), tcp::connect(loop(), where_is(acceptor)));
    EXPECT_TRUE(server);
}

TEST_P(TcpTest, AStoppedConnectLeaksNothing) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0), {.backlog = 0});
    std::vector<unique_fd> fill;  // so that the connect has to wait
    for (int i = 0; i != 3; ++i) {
        fill.push_back(tcp_socket());
        set_nonblocking(fill.back().get(), true);
        const address to = where_is(acceptor);
        static_cast<void>(::connect(fill.back().get(), to.native(), to.native_length()));
    }
    started connecting(loop(), tcp::connect(loop(), where_is(acceptor)));
    settle();
    connecting.stop();
    ASSERT_TRUE(ends(connecting));
    EXPECT_EQ(connecting.completions(), 1);
}

TEST_P(TcpTest, AConnectThatWasStoppedBeforeItBeganMakesNoSocket) {
    static_cast<void>(loop());
    const std::size_t before = open_fds();
    started connecting(loop(), tcp::connect(loop(), address::loopback_v4(1)));
    connecting.stop();
    ASSERT_TRUE(ends(connecting));
    EXPECT_TRUE(connecting.stopped());
    EXPECT_EQ(open_fds(), before);
}

TEST_P(TcpTest, AnAcceptedFdCanLiveOnAnotherLoop) {
    eddy::loop other({.engine = GetParam()});
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    auto [fd, client] = run_both(acceptor.accept_fd(), tcp::connect(loop(), where_is(acceptor)));
    tcp::socket server(other, std::move(fd));
    run(client.write(bytes("hi")));
    char buffer[2];
    EXPECT_EQ(std::get<0>(other.run(server.read(bytes(buffer))).value()), 2U);
}

/// Tells each client, by one byte, which acceptor it came to.
task<> tell_clients(const tcp::acceptor& acceptor, char name) {
    for (;;) {
        const tcp::socket peer = co_await acceptor.accept();
        EXPECT_TRUE(sends_at_once(peer)) << name;
        co_await peer.write(bytes(std::string_view(&name, 1)));
    }
}

TEST_P(TcpTest, ShardsOneAddressOverAGroup) {
    loop_group group({.size = 3, .loop = {.engine = GetParam()}});
    std::vector<tcp::acceptor> acceptors = tcp::listen_on_each(group, address::loopback_v4(0));
    ASSERT_EQ(acceptors.size(), 3U);
    const address shared = where_is(acceptors[0]);
    EXPECT_NE(shared.port(), 0);
    for (std::size_t i = 0; i != 3; ++i) {
        EXPECT_EQ(where_is(acceptors[i]), shared);
        EXPECT_EQ(acceptors[i].home(), &group.at(i));
        spawn(group.at(i), tell_clients(acceptors[i], static_cast<char>('a' + i)));
    }
    group.start();
    std::set<std::string> seen;
    for (int i = 0; i != 100; ++i) {
        const unique_fd client = tcp_connect(shared.port());
        seen.insert(recv_exactly(client.get(), 1));
        reset_on_close(client.get());
    }
    EXPECT_GE(seen.size(), 2U) << "all hundred came to one loop";
    group.stop();
    group.join();
    acceptors.clear();
}

EDDY_ON_EVERY_ENGINE(TcpTest);

}  // namespace
}  // namespace eddy::test::tcp_test
