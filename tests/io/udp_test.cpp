// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/async/spawn.hpp>
#include <eddy/io/udp/socket.hpp>
#include <eddy/loop/loop_group.hpp>

#include <set>
#include <string_view>
#include <vector>

namespace eddy::test::udp_test {
namespace {

address where_is(const auto& socket) {
    address found;
    EXPECT_FALSE(socket.local_address(found));
    return found;
}

class UdpTest : public IoTest {
protected:
    udp::socket bound() { return udp::socket(loop(), address::loopback_v4(0)); }
};

TEST_P(UdpTest, TellsWhoSentAndAnswers) {
    for (const address& at : {address::loopback_v4(0), address::loopback_v6(0)}) {
        udp::socket server(loop(), at);
        udp::socket client(loop(), at);
        char buffer[64];
        started receiving(loop(), server.recv_from(bytes(buffer)));
        EXPECT_EQ(run(client.send_to(bytes("query"), where_is(server))), 5U);
        ASSERT_TRUE(ends(receiving));
        const datagram got = receiving.value();
        EXPECT_EQ(std::string(buffer, got.size), "query");
        EXPECT_EQ(got.from, where_is(client));
        EXPECT_FALSE(got.truncated);
        run(server.send_to(bytes("answer"), got.from));
        EXPECT_EQ(run(client.recv(bytes(buffer))).size, 6U);
    }
}

TEST_P(UdpTest, ADatagramThatIsTooLongIsReportedAsCut) {
    udp::socket server = bound();
    udp::socket client = bound();
    run(client.send_to(bytes("0123456789"), where_is(server)));
    run(client.send_to(bytes("fits"), where_is(server)));
    char buffer[4];
    const datagram cut = run(server.recv_from(bytes(buffer)));
    EXPECT_TRUE(cut.truncated);
    EXPECT_EQ(std::string(buffer, cut.size), "0123");
    EXPECT_EQ(cut.from, where_is(client));
    const datagram whole = run(server.recv(bytes(buffer)));
    EXPECT_FALSE(whole.truncated);
    EXPECT_EQ(std::string(buffer, whole.size), "fits");
    EXPECT_FALSE(whole.from);
}

TEST_P(UdpTest, AnEmptyDatagramIsAMessage) {
    udp::socket server = bound();
    udp::socket client = bound();
    run(client.send_to(std::span<const std::byte>(), where_is(server)));
    char buffer[4];
    const datagram got = run(server.recv_from(bytes(buffer)));
    EXPECT_EQ(got.size, 0U);
    EXPECT_EQ(got.from, where_is(client));
}

TEST_P(UdpTest, AConnectedOneHearsOnlyItsPeer) {
    udp::socket server = bound();
    udp::socket client = bound();
    udp::socket stranger = bound();
    run(client.connect(where_is(server)));
    address peer;
    ASSERT_FALSE(client.peer_address(peer));
    EXPECT_EQ(peer, where_is(server));
    run(stranger.send_to(bytes("noise"), where_is(client)));
    EXPECT_EQ(run(client.send(bytes("hello"))), 5U);
    char buffer[16];
    const datagram got = run(server.recv_from(bytes(buffer)));
    run(server.send_to(bytes("back"), got.from));
    EXPECT_EQ(run(client.recv(bytes(buffer))).size, 4U);
}

TEST_P(UdpTest, NobodyThereIsConnectionRefused) {
    udp::socket client = bound();
    address gone;
    {
        udp::socket server = bound();
        gone = where_is(server);
        run(server.close());
    }
    run(client.connect(gone));
    char buffer[4];
    started receiving(loop(), client.recv(bytes(buffer)));
    run(client.send(bytes("x")));
    ASSERT_TRUE(ends(receiving));
    EXPECT_EQ(receiving.error(), std::errc::connection_refused);
}

TEST_P(UdpTest, AMessageThatIsTooLongIsNotSent) {
    udp::socket client = bound();
    const std::string huge(70'000, 'x');
    EXPECT_EQ(error_of(client.send_to(bytes(huge), where_is(client))), std::errc::message_size);
}

TEST_P(UdpTest, WrongAddressesAreRefused) {
    EXPECT_THROW(udp::socket(loop(), address()), std::system_error);
    EXPECT_THROW(udp::socket(loop(), address::from("unix:@x")), std::system_error);
    udp::socket first = bound();
    udp::socket second;
    EXPECT_EQ(udp::socket::open(loop(), where_is(first), second), std::errc::address_in_use);
    EXPECT_FALSE(second);
    EXPECT_TRUE(error_of(first.send_to(bytes("x"), address::loopback_v6(1))));
}

TEST_P(UdpTest, AMessageGoesFromAndToSeveralBuffers) {
    udp::socket server = bound();
    udp::socket client = bound();
    char hello[] = "hello ";
    char world[] = "world";
    const iovec out[] = {{hello, 6}, {world, 5}};
    char first[3];
    char rest[20];
    const iovec in[] = {{first, 3}, {rest, 20}};
    EXPECT_EQ(run(client.send_to(std::span<const iovec>(out), where_is(server))), 11U);
    const datagram got = run(server.recv_from(std::span<const iovec>(in)));
    EXPECT_EQ(got.size, 11U);
    EXPECT_EQ(got.from, where_is(client));
    EXPECT_EQ(std::string(first, 3) + std::string(rest, 8), "hello world");

    run(client.connect(where_is(server)));
    EXPECT_EQ(run(client.send(std::span<const iovec>(out))), 11U);
    EXPECT_EQ(run(client.send(std::span<const iovec>(out))), 11U);
    EXPECT_EQ(run(server.recv(std::span<const iovec>(in))).size, 11U);
    const datagram cut = run(server.recv(std::span<const iovec>(in).first(1)));
    EXPECT_EQ(cut.size, 3U);
    EXPECT_TRUE(cut.truncated);
}

TEST_P(UdpTest, AMessageComesInALentBuffer) {
    make_loop({.lease_size = 64, .lease_count = 1, .lease_max = 1});
    const std::string too_long(100, 'x');
    udp::socket server = bound();
    udp::socket client = bound();
    started receiving(loop(), server.receive());
    settle();
    for (const std::string& text : {std::string("query"), std::string(), too_long}) {
        run(client.send_to(bytes(text), where_is(server)));
    }
    ASSERT_TRUE(ends(receiving));
    EXPECT_EQ(as_text(receiving.value().data()), "query");
    receiving.value() = lease();
    EXPECT_EQ(run(server.receive()).size(), 0U);
    EXPECT_EQ(as_text(run(server.receive()).data()), too_long.substr(0, 64));
    EXPECT_EQ(error_of(udp::socket().receive()), bad_fd);
}

TEST_P(UdpTest, AStopEndsReceivingAndLosesNothing) {
    udp::socket server = bound();
    udp::socket client = bound();
    char buffer[16];
    started receiving(loop(), server.recv_from(bytes(buffer)));
    settle();
    receiving.stop();
    ASSERT_TRUE(ends(receiving));
    EXPECT_TRUE(receiving.stopped());
    run(client.send_to(bytes("kept"), where_is(server)));
    EXPECT_EQ(run(server.recv_from(bytes(buffer))).size, 4U);
}

TEST_P(UdpTest, BroadcastMustBeAllowed) {
    udp::socket client = bound();
    option::broadcast allowed{true};
    EXPECT_FALSE(client.get_option(allowed));
    EXPECT_FALSE(allowed.value);
    EXPECT_FALSE(client.set_option(option::broadcast{true}));
    EXPECT_FALSE(client.get_option(allowed));
    EXPECT_TRUE(allowed.value);
}

TEST_P(UdpTest, AnAddressIsSharedOnlyByThoseThatAllSaySo) {
    const udp::socket first(loop(), address::loopback_v4(0), {.reuse_port = true});
    const udp::socket second(loop(), where_is(first), {.reuse_port = true});
    EXPECT_EQ(where_is(second), where_is(first));
    udp::socket third;
    EXPECT_EQ(udp::socket::open(loop(), where_is(first), third), std::errc::address_in_use);
    EXPECT_FALSE(third);
    const udp::socket alone = bound();
    EXPECT_EQ(udp::socket::open(loop(), where_is(alone), third, {.reuse_port = true}),
              std::errc::address_in_use);
}

/// Answers each datagram by one byte that says who has received it.
task<> tell_senders(const udp::socket& socket, char name) {
    for (;;) {
        char query[8];
        const datagram got = co_await socket.recv_from(bytes(query));
        co_await socket.send_to(bytes(std::string_view(&name, 1)), got.from);
    }
}

TEST_P(UdpTest, ShardsOneAddressOverAGroup) {
    loop_group group({.size = 3, .loop = {.engine = GetParam()}});
    std::vector<udp::socket> sockets = udp::bind_on_each(group, address::loopback_v4(0));
    ASSERT_EQ(sockets.size(), 3U);
    const address shared = where_is(sockets[0]);
    EXPECT_NE(shared.port(), 0);
    for (std::size_t i = 0; i != 3; ++i) {
        EXPECT_EQ(where_is(sockets[i]), shared);
        EXPECT_EQ(sockets[i].home(), &group.at(i));
        spawn(group.at(i), tell_senders(sockets[i], static_cast<char>('a' + i)));
    }
    group.start();
    std::set<char> seen;
    for (int i = 0; i != 100; ++i) {
        const udp::socket client = bound();
        run(client.send_to(bytes("who?"), shared));
        char name = 0;
        ASSERT_EQ(run(client.recv(bytes(std::span(&name, 1)))).size, 1U);
        seen.insert(name);
    }
    EXPECT_GE(seen.size(), 2U) << "all hundred came to one loop";
    group.stop();
    group.join();
    sockets.clear();
}

EDDY_ON_EVERY_ENGINE(UdpTest);

}  // namespace
}  // namespace eddy::test::udp_test
