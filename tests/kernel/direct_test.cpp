// SPDX-License-Identifier: Apache-2.0
// Calls without the C library say the same as those with it.
#include "kernel/direct.hpp"
#include "support/fds.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include <gtest/gtest.h>

namespace eddy::test::direct_test {
namespace {

using namespace kernel;

constexpr int bad_fd = -1;

TEST(DirectCalls, MoveData) {
    const fd_pair pair = unix_stream_pair();
    EXPECT_EQ(direct::send(pair.first.get(), "four", 4, MSG_NOSIGNAL), io_result::value(4));
    std::array<char, 8> data{};
    EXPECT_EQ(direct::recv(pair.second.get(), data.data(), data.size(), MSG_DONTWAIT),
              io_result::value(4));
    EXPECT_EQ(std::string_view(data.data(), 4), "four");
}

TEST(DirectCalls, HeedTheirFlags) {
    const fd_pair pair = unix_stream_pair();
    EXPECT_EQ(direct::send(pair.first.get(), "xy", 2, 0), io_result::value(2));
    char byte = 0;
    EXPECT_EQ(direct::recv(pair.second.get(), &byte, 1, MSG_PEEK), io_result::value(1));
    std::array<char, 8> data{};
    EXPECT_EQ(direct::recv(pair.second.get(), data.data(), data.size(), MSG_DONTWAIT),
              io_result::value(2));
}

TEST(DirectCalls, TellErrorsByTheirResult) {
    fd_pair pair = unix_stream_pair();
    char byte = 0;
    EXPECT_TRUE(direct::recv(pair.first.get(), &byte, 1, MSG_DONTWAIT).would_block());
    EXPECT_EQ(direct::recv(bad_fd, &byte, 1, 0).system_error(), EBADF);
    EXPECT_EQ(direct::send(bad_fd, &byte, 1, 0).system_error(), EBADF);
    pair.second.reset();
    EXPECT_EQ(direct::send(pair.first.get(), &byte, 1, MSG_NOSIGNAL).system_error(), EPIPE);
    EXPECT_EQ(direct::recv(pair.first.get(), &byte, 1, 0), io_result::value(0));
    EXPECT_EQ(direct::uring_enter(bad_fd, 0, 0, 0, nullptr, 0).system_error(), EBADF);
}

TEST(DirectCalls, WaitWithEpoll) {
    const fd_pair pair = unix_stream_pair();
    const unique_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = 0x1234'5678'9abc'def0;
    const int in = pair.second.get();
    EXPECT_EQ(direct::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, in, &event), io_result::value(0));
    EXPECT_EQ(direct::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, in, &event).system_error(), EEXIST);
    std::array<epoll_event, 4> events{};
    const auto look = [&] { return direct::epoll_wait(epoll.get(), events.data(), 4, 0); };
    EXPECT_EQ(look(), io_result::value(0));
    EXPECT_EQ(direct::send(pair.first.get(), "x", 1, 0), io_result::value(1));
    EXPECT_EQ(look(), io_result::value(1));
    EXPECT_EQ(events[0].data.u64, 0x1234'5678'9abc'def0U);
    EXPECT_EQ(direct::epoll_wait(bad_fd, events.data(), 4, 0).system_error(), EBADF);
}

}  // namespace
}  // namespace eddy::test::direct_test
