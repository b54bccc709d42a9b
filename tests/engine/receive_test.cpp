// SPDX-License-Identifier: Apache-2.0
// Reads that say less, or more, than they seem to: messages, flags, the error queue, a reset.
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"

#include <array>

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace eddy::test::receive_test {
namespace {

class Receive : public EngineTest {
protected:
    /// Another read of 16 bytes, to be looked at afterwards.
    struct reading {
        explicit reading(std::function<void(recorder&)> then) : done(std::move(then)) {}
        std::string buffer = std::string(16, '\0');
        recorder done;
        std::string text() const { return buffer.substr(0, done.count()); }
    };
    std::function<void(recorder&)> stops() {
        return [this](recorder&) { loop().stop(); };
    }
};
EDDY_ON_EVERY_ENGINE(Receive);

TEST_P(Receive, OfAPacketFromAPipeLeavesTheNextOneToBeRead) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_DIRECT | O_CLOEXEC), 0);
    const unique_fd writer(ends[1]);
    const descriptor d = attach(unique_fd(ends[0]));
    reading second(stops());
    reading first([&](recorder&) { start(second.done, read(d, bytes(second.buffer))); });
    start(first.done, read(d, bytes(first.buffer)));
    settle();
    write_all(writer.get(), "a");
    write_all(writer.get(), "bb");
    loop().run_for(patience);
    EXPECT_EQ(first.text(), "a");
    EXPECT_TRUE(second.done.ended());
    EXPECT_EQ(second.text(), "bb");
}

TEST_P(Receive, AfterALookAtTheErrorQueueGetsTheDataThatWasThere) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder readable;
    start(readable, wait(d, interest::readable));
    send_all(pair.second.get(), "hello");
    ASSERT_TRUE(ends(readable));
    std::string unused(16, '\0');
    std::array<char, 256> control{};
    iovec vector{unused.data(), unused.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    recorder errors;
    start(errors, recvmsg(d, message, MSG_ERRQUEUE));
    turns_in(20ms);
    if (errors.operation().pending()) {
        loop().cancel(errors.operation());
    }
    ASSERT_TRUE(ends(errors));
    reading plain(stops());
    start(plain.done, recv(d, bytes(plain.buffer)));
    if (!plain.done.ended()) {
        loop().run_for(patience);
    }
    EXPECT_TRUE(plain.done.ended());
    EXPECT_EQ(plain.text(), "hello");
}

TEST_P(Receive, WithPeekAndWaitallGivesNothingTwice) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "ab");
    ASSERT_TRUE(becomes_ready(d.native_handle(), 1));
    std::string buffer(4, '\0');
    recorder r(stops());
    start(r, recv(d, bytes(buffer), MSG_PEEK | MSG_WAITALL));
    loop().run_for(patience);
    ASSERT_TRUE(r.ended());
    EXPECT_EQ(buffer.substr(0, r.count()), "ab") << r.error();
}

TEST_P(Receive, WithWaitallOfDatagramsGivesOneMessage) {
    fd_pair pair = unix_datagram_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "ab");
    send_all(pair.second.get(), "cd");
    reading second(stops());
    reading first(
        [&](recorder&) { start(second.done, recv(d, bytes(second.buffer), MSG_WAITALL)); });
    start(first.done, recv(d, bytes(first.buffer), MSG_WAITALL));
    loop().run_for(patience);
    EXPECT_EQ(first.text(), "ab") << first.done.error();
    EXPECT_EQ(second.text(), "cd") << second.done.error();
}

TEST_P(Receive, OfAllThatAResetCutsShortGivesTheBytesAndThenTheError) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    reading after(stops());
    reading part([&](recorder&) { start(after.done, recv(d, bytes(after.buffer))); });
    alarm send(loop(), [&] { send_all(pair.second.get(), "ab"); });
    alarm reset(loop(), [&] {
        reset_on_close(pair.second.get());
        pair.second.reset();
    });
    start(part.done, recv_all(d, bytes(part.buffer)));
    loop().post_after(20ms, send);
    loop().post_after(60ms, reset);
    loop().run_for(patience);
    EXPECT_EQ(part.text(), "ab") << part.done.error();
    ASSERT_TRUE(after.done.ended());
    EXPECT_EQ(after.done.error(), std::errc::connection_reset);
}

TEST_P(Receive, WithErrorsQueuedThatNobodyReadsDoesNotSpin) {
    unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int number = socket.get();
    const int on = 1;
    ASSERT_EQ(::setsockopt(number, IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(tcp_listener().port());  // no datagrams are taken there
    ASSERT_EQ(::connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const descriptor d = attach(std::move(socket));
    reading told(stops());
    start(told.done, recv(d, bytes(told.buffer)));
    settle();
    ASSERT_EQ(::send(number, "x", 1, 0), 1);
    loop().run_for(patience);
    EXPECT_EQ(told.done.error(), std::errc::connection_refused);
    reading pending(stops());
    start(pending.done, recv(d, bytes(pending.buffer)));
    EXPECT_LT(turns_in(200ms), 1000U);
    if (pending.done.operation().pending()) {
        loop().cancel(pending.done.operation());
        loop().run_for(patience);
    }
    EXPECT_EQ(pending.done.endings(), 1U);
}

/// A netlink socket whose buffer was overrun by messages to all.
unique_fd overrun_netlink_socket() {
    unique_fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
    const unique_fd sender(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
    sockaddr_nl group{};
    group.nl_family = AF_NETLINK;
    group.nl_groups = 1;
    const int little = 4096;
    if (!fd || !sender ||
        ::bind(fd.get(), reinterpret_cast<sockaddr*>(&group), sizeof group) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little) != 0) {
        return {};
    }
    const std::array<char, 1024> data{};
    for (int i = 0; i != 64; ++i) {
        static_cast<void>(::sendto(sender.get(), data.data(), data.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&group), sizeof group));
    }
    return fd;
}

TEST_P(Receive, OfANetlinkSocketThatWasOverrunTellsSo) {
    make_loop({.lease_size = 2048, .lease_count = 4, .lease_max = 4});
    unique_fd fd = overrun_netlink_socket();
    if (!fd) {
        GTEST_SKIP() << "no netlink sockets for users here";
    }
    const descriptor d = attach(std::move(fd));
    recorder overrun;
    start(overrun, receive(d));
    ASSERT_TRUE(ends(overrun));
    EXPECT_EQ(overrun.error(), std::errc::no_buffer_space);
    recorder rest([&](recorder& r) { EXPECT_EQ(loop().take_lease(r.operation()).size(), 1024U); });
    start(rest, receive(d));
    ASSERT_TRUE(ends(rest));
    EXPECT_EQ(rest.count(), 1024U);
}

}  // namespace
}  // namespace eddy::test::receive_test
