// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/interest.hpp>

#include <cstdint>

#include <poll.h>
#include <sys/epoll.h>

#include <gtest/gtest.h>

namespace eddy::test::interest_test {
namespace {

using eddy::any;
using eddy::interest;

constexpr std::uint32_t number(interest i) { return static_cast<std::uint32_t>(i); }

TEST(Interest, HasTheNumbersOfEpollAndOfPoll) {
    struct {
        interest ours;
        std::uint32_t epoll;
        int poll;
    } const same[] = {
        {interest::readable, EPOLLIN, POLLIN},   {interest::priority, EPOLLPRI, POLLPRI},
        {interest::writable, EPOLLOUT, POLLOUT}, {interest::error, EPOLLERR, POLLERR},
        {interest::hangup, EPOLLHUP, POLLHUP},   {interest::peer_closed, EPOLLRDHUP, POLLRDHUP},
    };
    for (const auto& [ours, epoll, poll] : same) {
        EXPECT_EQ(number(ours), epoll);
        EXPECT_EQ(number(ours), static_cast<std::uint32_t>(poll));
    }
    EXPECT_EQ(number(interest::invalid), static_cast<std::uint32_t>(POLLNVAL));
}

TEST(Interest, IsASet) {
    interest set = interest::readable | interest::writable;
    EXPECT_TRUE(any(set & interest::readable));
    EXPECT_FALSE(any(set & interest::priority));
    set |= interest::priority;
    EXPECT_TRUE(any(set & interest::priority));
    set &= ~interest::readable;
    EXPECT_EQ(set, interest::writable | interest::priority);
    EXPECT_FALSE(any(interest::none));
}

}  // namespace
}  // namespace eddy::test::interest_test
