// SPDX-License-Identifier: Apache-2.0
// recvmsg and sendmsg: addresses, control data, descriptors that travel.
#include "support/engine_fixture.hpp"

#include <array>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace eddy::test::message_test {
namespace {

class Message : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Message);

/// A message of one buffer with room for a descriptor.
struct message {
    explicit message(std::string& text) : vector{text.data(), text.size()} {
        header.msg_iov = &vector;
        header.msg_iovlen = 1;
    }
    message(const message&) = delete;
    message& operator=(const message&) = delete;

    void make_room() {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
    }
    void carry(int fd) {
        make_room();
        cmsghdr* const part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
        header.msg_controllen = CMSG_SPACE(sizeof fd);
    }
    unique_fd carried() {
        const cmsghdr* const part = CMSG_FIRSTHDR(&header);
        if (part == nullptr || part->cmsg_type != SCM_RIGHTS) {
            return {};
        }
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
        return unique_fd(fd);
    }

    iovec vector;
    msghdr header{};
    alignas(cmsghdr) std::array<char, 128> control{};
};

TEST_P(Message, CarriesADescriptorThatIsClosedOnExec) {
    fd_pair pair = unix_stream_pair();
    const descriptor in = attach(std::move(pair.first));
    const descriptor out = attach(std::move(pair.second));
    fd_pair pipe = make_pipe();
    std::string text = "x";
    message sent(text);
    sent.carry(pipe.second.get());
    recorder w;
    start(w, sendmsg(out, sent.header));
    ASSERT_TRUE(ends(w));
    ASSERT_EQ(w.count(), 1U) << w.error();

    std::string buffer(8, '\0');
    message received(buffer);
    received.make_room();
    recorder r;
    start(r, recvmsg(in, received.header));
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.count(), 1U) << r.error();
    const unique_fd passed = received.carried();
    ASSERT_TRUE(passed);
    EXPECT_TRUE(is_cloexec(passed.get()));
    write_all(passed.get(), "through");
    EXPECT_EQ(recv_exactly(pipe.first.get(), 7), "through");
}

/// The kernel writes the address, the size and the flags into the caller's msghdr, so an engine
/// must pass that object on and not a copy, even if the message comes later.
TEST_P(Message, SaysWhereADatagramCameFrom) {
    const auto bound = [] {
        unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
        return fd;
    };
    const auto address_of = [](const descriptor& d) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        EXPECT_EQ(::getsockname(d.native_handle(), reinterpret_cast<sockaddr*>(&address), &size),
                  0);
        return address;
    };
    const descriptor in = attach(bound());
    const descriptor out = attach(bound());

    std::string buffer(4, '\0');
    message received(buffer);
    sockaddr_in from{};
    received.header.msg_name = &from;
    received.header.msg_namelen = sizeof from;
    recorder r;
    start(r, recvmsg(in, received.header));
    settle();
    ASSERT_FALSE(r.ended());

    sockaddr_in to = address_of(in);
    std::string text = "datagram";
    message sent(text);
    sent.header.msg_name = &to;
    sent.header.msg_namelen = sizeof to;
    recorder w;
    start(w, sendmsg(out, sent.header));
    ASSERT_TRUE(ends(w));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 4U);
    EXPECT_EQ(from.sin_port, address_of(out).sin_port);
    EXPECT_NE(received.header.msg_flags & MSG_TRUNC, 0);
}

TEST_P(Message, WithoutTheMessageWaitsForIt) {
    fd_pair pair = tcp_pair();
    const descriptor in = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    message received(buffer);
    recorder r;
    for (int i = 0; i != 3; ++i) {
        start(r, recvmsg(in, received.header));
        settle();
        ASSERT_FALSE(r.ended());
        send_all(pair.second.get(), "abc");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 3U);
    }
}

}  // namespace
}  // namespace eddy::test::message_test
