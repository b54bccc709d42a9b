// SPDX-License-Identifier: Apache-2.0
// What the library takes for granted of the kernel. If one of these fails, so does the library.

#include "support/fds.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::facts_test {
namespace {

using namespace eddy;

class FactsOfEpoll : public ::testing::Test {
protected:
    int control(int operation, int fd, std::uint32_t events) const {
        epoll_event event{};
        event.events = events;
        event.data.fd = fd;
        return ::epoll_ctl(epoll_.get(), operation, fd, &event) == 0 ? 0 : errno;
    }
    int add(int fd, std::uint32_t events) const { return control(EPOLL_CTL_ADD, fd, events); }

    /// The events of the one fd that is ready, or 0. What must come is waited for.
    std::uint32_t reported(int limit_ms) const {
        std::array<epoll_event, 4> events;
        const int count = ::epoll_wait(epoll_.get(), events.data(), 4, limit_ms);
        EXPECT_LE(count, 1);
        return count == 1 ? events[0].events : 0;
    }
    std::uint32_t next() const { return reported(5000); }
    std::uint32_t now() const { return reported(0); }

    unique_fd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
};

void signal_event(const unique_fd& fd) {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd.get(), &one, sizeof one), ssize_t{sizeof one});
}

TEST_F(FactsOfEpoll, AnEdgeTriggeredEventfdReportsEachWriteWithoutBeingRead) {
    const unique_fd event = test::make_eventfd();
    ASSERT_EQ(add(event.get(), EPOLLIN | EPOLLET), 0);
    EXPECT_EQ(now(), 0U);
    for (int i = 0; i != 5; ++i) {
        signal_event(event);
        EXPECT_EQ(next(), EPOLLIN) << i;
        EXPECT_EQ(now(), 0U) << i;
    }
}

TEST_F(FactsOfEpoll, AddingReportsReadinessThatIsThereAlready) {
    const auto pair = test::tcp_pair();
    test::send_all(pair.second.get(), "x");
    ASSERT_TRUE(test::becomes_ready(pair.first.get(), POLLIN));
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLET), 0);
    EXPECT_EQ(now(), EPOLLIN);
    EXPECT_EQ(now(), 0U);
}

TEST_F(FactsOfEpoll, ModifyingReportsReadinessThatIsThereAlready) {
    const auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLET), 0);
    EXPECT_EQ(now(), 0U);
    ASSERT_EQ(control(EPOLL_CTL_MOD, pair.first.get(), EPOLLIN | EPOLLOUT | EPOLLET), 0);
    EXPECT_EQ(now(), EPOLLOUT);
    test::send_all(pair.second.get(), "x");
    EXPECT_EQ(next(), EPOLLIN | EPOLLOUT);
    EXPECT_EQ(now(), 0U);
    // The same interest again: the edge that was reported before is reported anew.
    ASSERT_EQ(control(EPOLL_CTL_MOD, pair.first.get(), EPOLLIN | EPOLLOUT | EPOLLET), 0);
    EXPECT_EQ(now(), EPOLLIN | EPOLLOUT);
}

TEST_F(FactsOfEpoll, RegularFilesAndDirectoriesAreRefused) {
    const test::scratch_directory directory;
    EXPECT_EQ(add(directory.file("a").get(), EPOLLIN), EPERM);
    const unique_fd itself(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(add(itself.get(), EPOLLIN), EPERM);
}

TEST_F(FactsOfEpoll, AddingTwiceIsRefused) {
    const auto pair = test::tcp_pair();
    EXPECT_EQ(add(pair.first.get(), EPOLLIN), 0);
    EXPECT_EQ(add(pair.first.get(), EPOLLIN), EEXIST);
    EXPECT_EQ(control(EPOLL_CTL_DEL, pair.first.get(), 0), 0);
    EXPECT_EQ(control(EPOLL_CTL_DEL, pair.first.get(), 0), ENOENT);
    EXPECT_EQ(control(EPOLL_CTL_MOD, pair.first.get(), EPOLLIN), ENOENT);
}

TEST_F(FactsOfEpoll, AfterAShortReadOfTcpNewDataGiveANewEdge) {
    const auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLRDHUP | EPOLLET), 0);
    for (int i = 0; i != 5; ++i) {
        test::send_all(pair.second.get(), "abc");
        EXPECT_EQ(next(), EPOLLIN) << i;
        char buffer[16];
        ASSERT_EQ(::recv(pair.first.get(), buffer, sizeof buffer, 0), 3);  // short: no EAGAIN seen
        EXPECT_EQ(now(), 0U) << i;
    }
}

TEST_F(FactsOfEpoll, AfterAShortReadOfAPipeNewDataGiveANewEdge) {
    const auto pipe = test::make_pipe();
    ASSERT_EQ(add(pipe.first.get(), EPOLLIN | EPOLLET), 0);
    for (int i = 0; i != 5; ++i) {
        test::write_all(pipe.second.get(), "abc");
        EXPECT_EQ(next(), EPOLLIN) << i;
        char buffer[16];
        ASSERT_EQ(::read(pipe.first.get(), buffer, sizeof buffer), 3);
        EXPECT_EQ(now(), 0U) << i;
    }
}

TEST_F(FactsOfEpoll, NewDataGiveAnEdgeAlsoWhileOldDataAreUnread) {
    const auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLET), 0);
    test::send_all(pair.second.get(), "a");
    EXPECT_EQ(next(), EPOLLIN);
    EXPECT_EQ(now(), 0U);
    test::send_all(pair.second.get(), "b");
    EXPECT_EQ(next(), EPOLLIN);
}

TEST_F(FactsOfEpoll, TheEndOfAPeerGivesAnEdge) {
    auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLRDHUP | EPOLLET), 0);
    pair.second.reset();
    EXPECT_EQ(next() & (EPOLLIN | EPOLLRDHUP), EPOLLIN | EPOLLRDHUP);
}

TEST_F(FactsOfEpoll, AfterAFullPipeRoomGivesAnEdge) {
    const auto pipe = test::make_pipe();
    test::set_nonblocking(pipe.second.get(), true);
    ASSERT_EQ(add(pipe.second.get(), EPOLLOUT | EPOLLET), 0);
    EXPECT_EQ(next(), EPOLLOUT);
    std::array<char, 4096> block{};
    std::size_t written = 0;
    while (::write(pipe.second.get(), block.data(), block.size()) > 0) {
        written += block.size();
    }
    ASSERT_EQ(errno, EAGAIN);
    EXPECT_EQ(now(), 0U);
    test::recv_exactly(pipe.first.get(), written);
    EXPECT_EQ(next(), EPOLLOUT);
}

TEST_F(FactsOfEpoll, ARegistrationLivesAsLongAsADuplicate) {
    auto pair = test::tcp_pair();
    const int number = pair.first.get();
    ASSERT_EQ(add(number, EPOLLIN | EPOLLET), 0);
    unique_fd duplicate(::dup(number));
    pair.first.reset();
    test::send_all(pair.second.get(), "x");
    EXPECT_EQ(next(), EPOLLIN);                           // of an fd that is closed
    EXPECT_EQ(control(EPOLL_CTL_DEL, number, 0), EBADF);  // and nobody can take it out any more
    duplicate.reset();
    EXPECT_EQ(now(), 0U);
}

TEST_F(FactsOfEpoll, DeletingBeforeClosingEndsItInSpiteOfADuplicate) {
    auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLET), 0);
    const unique_fd duplicate(::dup(pair.first.get()));
    ASSERT_EQ(control(EPOLL_CTL_DEL, pair.first.get(), 0), 0);
    pair.first.reset();
    test::send_all(pair.second.get(), "x");
    ASSERT_TRUE(test::becomes_ready(duplicate.get(), POLLIN));
    EXPECT_EQ(now(), 0U);
}

TEST_F(FactsOfEpoll, ClosingWithoutADuplicateEndsItWithoutAnEvent) {
    auto pair = test::tcp_pair();
    ASSERT_EQ(add(pair.first.get(), EPOLLIN | EPOLLET), 0);
    pair.first.reset();
    EXPECT_EQ(now(), 0U);
}

TEST_F(FactsOfEpoll, ErrorsAndHangupsCannotBeMasked) {
    auto pipe = test::make_pipe();
    ASSERT_EQ(add(pipe.first.get(), 0), 0);
    pipe.second.reset();
    EXPECT_EQ(next(), EPOLLHUP);
    EXPECT_EQ(next(), EPOLLHUP);  // level-triggered, for ever
}

TEST(FactsOfPoll, AClosedFdIsInvalidAndANegativeOneIsIgnored) {
    int closed = -1;
    {
        const auto pipe = test::make_pipe();
        closed = pipe.first.get();
    }
    std::array<pollfd, 2> questions{{{closed, POLLIN, 0}, {-1, POLLIN, 0}}};
    EXPECT_EQ(::poll(questions.data(), 2, 0), 1);
    EXPECT_EQ(questions[0].revents, POLLNVAL);
    EXPECT_EQ(questions[1].revents, 0);
}

}  // namespace
}  // namespace eddy::test::facts_test
