// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"
#include "io/send_one_fd.hpp"

#include <eddy/io/local/bound.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/pipe.hpp>

#include <filesystem>
#include <memory>
#include <vector>

#include <unistd.h>

namespace eddy::test::local_test {
namespace {

class LocalTest : public IoTest {
protected:
    address at(const char* name) const { return address::from("unix:" + directory_.path(name)); }
    bool exists(const char* name) const { return std::filesystem::exists(directory_.path(name)); }

    scratch_directory directory_;
};

TEST_P(LocalTest, ConnectsByPathAndByAbstractName) {
    for (const address& where : {at("s"), address::from("unix:@" + directory_.path("abstract"))}) {
        local::acceptor acceptor(loop(), where);
        auto [server, client] = run_both(acceptor.accept(), local::connect(loop(), where));
        run(client.write(bytes("hi")));
        char buffer[4];
        EXPECT_EQ(run(server.read_some(bytes(buffer))), 2U);
        address peer;
        ASSERT_FALSE(client.peer_address(peer));
        EXPECT_EQ(peer, where);
        ASSERT_FALSE(server.peer_address(peer));
        EXPECT_EQ(peer.to_string(), "unix:");
    }
}

TEST_P(LocalTest, ThePathGoesWithTheAcceptor) {
    {
        local::acceptor acceptor(loop(), at("a"));
        EXPECT_TRUE(exists("a"));
    }
    EXPECT_FALSE(exists("a"));
    local::acceptor closed(loop(), at("b"));
    run(closed.close());
    EXPECT_FALSE(exists("b"));
    local::acceptor released(loop(), at("c"));
    unique_fd fd;
    ASSERT_FALSE(released.release(fd));
    released = local::acceptor();
    EXPECT_TRUE(exists("c"));
}

TEST_P(LocalTest, APathThatIsTakenIsOnlyReplacedIfAsked) {
    local::acceptor first(loop(), at("s"));
    local::acceptor second;
    EXPECT_EQ(local::acceptor::listen(loop(), at("s"), second), std::errc::address_in_use);
    EXPECT_FALSE(second);
    ASSERT_FALSE(local::acceptor::listen(loop(), at("s"), second, {.replace = true}));
    run(first.close());
    EXPECT_TRUE(exists("s"));
    const auto [server, client] = run_both(second.accept(), local::connect(loop(), at("s")));
    EXPECT_TRUE(server);
}

TEST_P(LocalTest, WhatIsNotThereIsAnError) {
    EXPECT_EQ(error_of(local::connect(loop(), at("nothing"))),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ(error_of(local::connect(loop(), address::loopback_v4(1))),
              std::errc::address_family_not_supported);
    EXPECT_THROW(local::acceptor(loop(), at("no/such/directory")), std::system_error);
    EXPECT_THROW(local::acceptor(loop(), address::loopback_v4(0)), std::system_error);
}

TEST_P(LocalTest, SeqpacketsKeepTheirBoundariesAndEnd) {
    local::seqpacket_acceptor acceptor(loop(), at("s"));
    auto [server, client] =
        run_both(acceptor.accept(), local::connect<local::seqpacket>(loop(), at("s")));
    run(client.send(bytes("one")));
    run(client.send(bytes("three")));
    char buffer[4];
    EXPECT_EQ(run(server.recv(bytes(buffer))).size, 3U);
    const datagram cut = run(server.recv(bytes(buffer)));
    EXPECT_EQ(cut.size, 4U);
    EXPECT_TRUE(cut.truncated);
    run(client.close());
    EXPECT_EQ(run(server.recv(bytes(buffer))).size, 0U);
}

TEST_P(LocalTest, DatagramsHaveSendersWithAndWithoutNames) {
    local::datagram server(loop(), at("server"));
    local::datagram named(loop(), at("client"));
    local::datagram nameless(loop(), address::from("unix:"));
    char buffer[16];
    run(named.send_to(bytes("a"), at("server")));
    EXPECT_EQ(run(server.recv_from(bytes(buffer))).from, at("client"));
    run(nameless.send_to(bytes("b"), at("server")));
    EXPECT_TRUE(run(server.recv_from(bytes(buffer))).from.path().empty());
    run(server.close());
    EXPECT_FALSE(exists("server"));
}

TEST_P(LocalTest, ADatagramWaitsWhileTheReceiverIsFull) {
    auto [a, b] = local::make_pair<local::datagram>(loop());
    const std::string message(1000, 'm');
    using sending = started<decltype(a.send(bytes(message)))>;
    std::vector<std::unique_ptr<sending>> sent;
    do {
        sent.push_back(std::make_unique<sending>(loop(), a.send(bytes(message))));
        settle();
    } while (sent.back()->ended() && sent.size() < 10'000);
    ASSERT_FALSE(sent.back()->ended());
    std::string buffer(1000, '\0');
    for (std::size_t i = 0; i != sent.size(); ++i) {
        EXPECT_EQ(run(b.recv(bytes(buffer))).size, message.size());
    }
    EXPECT_TRUE(ends(*sent.back()));
}

TEST_P(LocalTest, PeersKnowEachOther) {
    auto [a, b] = local::make_pair(loop());
    peer_credentials peer;
    ASSERT_FALSE(a.credentials(peer));
    EXPECT_EQ(peer.pid, ::getpid());
    EXPECT_EQ(peer.uid, ::getuid());
    EXPECT_EQ(peer.gid, ::getgid());
    local::stream none;
    EXPECT_EQ(none.credentials(peer), bad_fd);
}

TEST_P(LocalTest, DescriptorsTravelOverEveryKind) {
    const auto over = [this](auto pair) {
        auto [reader, writer] = make_pipe(loop());
        char buffer[8];
        EXPECT_EQ(
            run(pair.first.send_fds(bytes("ab"), {reader.native_handle(), writer.native_handle()})),
            2U);
        auto got = run(pair.second.template receive_fds<4>(bytes(buffer)));
        EXPECT_EQ(got.size, 2U);
        ASSERT_EQ(got.fd_count, 2U);
        EXPECT_TRUE(is_cloexec(got.fds[0].get()));
        EXPECT_TRUE(is_cloexec(got.fds[1].get()));
        EXPECT_FALSE(got.fds[2]);
        EXPECT_NE(got.fds[0].get(), reader.native_handle());
        write_all(got.fds[1].get(), "through");
        EXPECT_EQ(run(reader.read_some(bytes(buffer))), 7U);
    };
    over(local::make_pair<local::stream>(loop()));
    over(local::make_pair<local::seqpacket>(loop()));
    over(local::make_pair<local::datagram>(loop()));
}

TEST_P(LocalTest, MoreDescriptorsThanWereAskedForAreAnErrorAndAreClosed) {
    auto [a, b] = local::make_pair(loop());
    const unique_fd event = make_eventfd();
    const int fd = event.get();
    char buffer[8];
    run(a.send_fds(bytes("x"), {fd, fd, fd}));
    const std::size_t before = open_fds();
    EXPECT_EQ(error_of(b.receive_fds<2>(bytes(buffer))), std::errc::no_buffer_space);
    EXPECT_EQ(open_fds(), before);
    run(a.send_fds(bytes("y"), {fd}));
    EXPECT_EQ(run(b.receive_fds<1>(bytes(buffer))).fd_count, 1U);
    EXPECT_EQ(open_fds(), before);
}

TEST_P(LocalTest, BytesWithoutDescriptorsAndTheEndAreToldApart) {
    auto [a, b] = local::make_pair(loop());
    char buffer[8];
    run(a.write(bytes("plain")));
    const auto plain = run(b.receive_fds<1>(bytes(buffer)));
    EXPECT_EQ(plain.size, 5U);
    EXPECT_EQ(plain.fd_count, 0U);
    run(a.close());
    EXPECT_EQ(run(b.receive_fds<1>(bytes(buffer))).size, 0U);
}

TEST_P(LocalTest, DescriptorsNeedAByteAndMustBeOpen) {
    auto [a, b] = local::make_pair(loop());
    const unique_fd event = make_eventfd();
    EXPECT_EQ(error_of(a.send_fds(std::span<const std::byte>(), {event.get()})),
              std::errc::invalid_argument);
    EXPECT_EQ(error_of(a.send_fds(bytes("x"), {-1})), bad_fd);
}

TEST_P(LocalTest, DescriptorsThatNobodyTakesAreClosedWithTheSocket) {
    auto [a, b] = local::make_pair(loop());
    auto [reader, writer] = make_pipe(loop());
    run(a.send_fds(bytes("x"), {writer.native_handle()}));
    run(writer.close());
    run(a.close());
    run(b.close());
    char buffer[4];
    EXPECT_EQ(run(reader.read_some(bytes(buffer))), 0U);
}

TEST_P(LocalTest, DescriptorsThatCameForWhatIsDestroyedAreClosed) {
    for (const bool with_a_result : {true, false}) {
        auto [a, b] = local::make_pair(loop());
        const unique_fd event = make_eventfd();
        char buffer[8];
        using sender = decltype(b.receive_fds<2>(bytes(buffer)));
        auto receiving = std::make_unique<started<sender>>(loop(), b.receive_fds<2>(bytes(buffer)));
        settle();
        const std::size_t before = open_fds();
        send_one_fd(a.native_handle(), event.get());
        if (with_a_result) {
            loop().post([&] { receiving.reset(); });  // runs before the result is delivered
            settle();
        }
        receiving.reset();
        EXPECT_EQ(open_fds(), before) << with_a_result;
    }
}

EDDY_ON_EVERY_ENGINE(LocalTest);

}  // namespace
}  // namespace eddy::test::local_test
