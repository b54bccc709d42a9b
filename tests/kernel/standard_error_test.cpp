// SPDX-License-Identifier: Apache-2.0
#include "kernel/standard_error.hpp"

#include "support/in_child.hpp"

#include <array>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::standard_error_test {
namespace {

using kernel::standard_error;

/// Puts one end of a pipe at descriptor 2, and returns the other.
int pipe_at_2() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
    EXPECT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ::close(ends[1]);
    return ends[0];
}

int socket_at_2() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    EXPECT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ::close(ends[1]);
    return ends[0];
}

std::string all_of(int fd) {
    std::string text(1000, '\0');
    const auto got = ::read(fd, text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

TEST(StandardError, ReceivesTheLine) {
    EXPECT_EQ(in_child([] {
                  const int pipe = pipe_at_2();
                  const standard_error started;
                  started.write("hello\n");
                  return all_of(pipe) == "hello\n" ? 0 : 1;
              }),
              0);
}

TEST(StandardError, IsNotWhatTookItsNumberInAProcessThatStartedWithoutOne) {
    EXPECT_EQ(in_child([] {
                  ::close(STDERR_FILENO);
                  const standard_error started;
                  const int pipe = pipe_at_2();
                  started.write("hello\n");
                  return all_of(pipe).empty() ? 0 : 1;
              }),
              0);
}

TEST(StandardError, IsNoSocketThatTookItsNumberLater) {
    EXPECT_EQ(in_child([] {
                  const int pipe = pipe_at_2();
                  const standard_error started;
                  const int peer = socket_at_2();
                  started.write("hello\n");
                  return all_of(peer).empty() && all_of(pipe).empty() ? 0 : 1;
              }),
              0);
}

TEST(StandardError, MayBeASocketFromTheStart) {
    EXPECT_EQ(in_child([] {
                  const int log = socket_at_2();
                  const standard_error started;
                  started.write("hello\n");
                  return all_of(log) == "hello\n" ? 0 : 1;
              }),
              0);
}

TEST(StandardError, FollowsARedirectionToAFileOrPipe) {
    EXPECT_EQ(in_child([] {
                  static_cast<void>(pipe_at_2());
                  const standard_error started;
                  const int pipe = pipe_at_2();
                  started.write("hello\n");
                  return all_of(pipe) == "hello\n" ? 0 : 1;
              }),
              0);
}

TEST(StandardError, DoesNotKillTheProcessWhenNobodyReads) {
    EXPECT_EQ(in_child([] {
                  std::signal(SIGPIPE, SIG_DFL);
                  ::close(pipe_at_2());
                  const standard_error started;
                  started.write("hello\n");
                  return 0;
              }),
              0);
}

TEST(StandardError, DropsALineThatWouldHaveToWaitForRoom) {
    EXPECT_EQ(in_child([] {
                  const int pipe = pipe_at_2();
                  const standard_error started;
                  while (::write(STDERR_FILENO, "x", 1) == 1) {}
                  ::fcntl(STDERR_FILENO, F_SETFL, 0);  // from here on a write without room hangs
                  started.write("hello\n");
                  return all_of(pipe).size() == 1000 ? 0 : 1;
              }),
              0);
}

}  // namespace
}  // namespace eddy::test::standard_error_test
