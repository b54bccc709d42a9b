// SPDX-License-Identifier: Apache-2.0
#include "kernel/io.hpp"
#include "kernel/call.hpp"
#include "support/fds.hpp"
#include "support/in_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

namespace eddy::test::io_test {
namespace {

using namespace eddy;

io_result error(int number) { return io_result::system_error(number); }

TEST(KernelIo, ReadsAndWritesAtThePositionOrAtAnOffset) {
    const test::scratch_directory directory;
    const unique_fd file = directory.file("a");
    EXPECT_EQ(kernel::write(file.get(), "abcdef", 6, -1), io_result::value(6));
    EXPECT_EQ(kernel::write(file.get(), "X", 1, 2), io_result::value(1));
    char buffer[8] = {};
    EXPECT_EQ(kernel::read(file.get(), buffer, 3, 1), io_result::value(3));
    EXPECT_EQ(std::string(buffer, 3), "bXd");
    EXPECT_EQ(kernel::read(file.get(), buffer, 8, -1), io_result::value(0));  // at its end
    EXPECT_EQ(kernel::fsync(file.get(), false), io_result::value(0));
    EXPECT_EQ(kernel::fsync(file.get(), true), io_result::value(0));
}

TEST(KernelIo, ReadsAndWritesVectors) {
    const test::scratch_directory directory;
    const unique_fd file = directory.file("a");
    char text[] = "abcd";
    const iovec out[] = {{text, 1}, {text + 1, 3}};
    EXPECT_EQ(kernel::writev(file.get(), out, -1), io_result::value(4));
    char first[1], second[2];
    const iovec in[] = {{first, 1}, {second, 2}};
    EXPECT_EQ(kernel::readv(file.get(), in, 1), io_result::value(3));
    EXPECT_EQ(first[0], 'b');
    EXPECT_EQ(std::string(second, 2), "cd");
}

TEST(KernelIo, CutsASizeThatTheKernelDoesNotTake) {
    constexpr std::size_t three_gib = std::size_t{3} << 30;
    void* const memory = ::mmap(nullptr, three_gib, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const auto pair = test::unix_stream_pair();
    test::send_all(pair.second.get(), "xy");
    EXPECT_EQ(kernel::recv(pair.first.get(), memory, three_gib, 0), io_result::value(2));
    const io_result sent = kernel::send(pair.first.get(), memory, three_gib, 0);
    EXPECT_GT(sent.count(), 0U);
    EXPECT_LE(sent.count(), kernel::transfer_max);
    ::munmap(memory, three_gib);
}

TEST(KernelIo, SocketsNeverBlockThoughTheyCould) {
    const auto pair = test::unix_stream_pair();
    ASSERT_FALSE(test::is_nonblocking(pair.first.get()));
    char byte = 0;
    EXPECT_TRUE(kernel::recv(pair.first.get(), &byte, 1, 0).would_block());
    iovec one{&byte, 1};
    msghdr message{};
    message.msg_iov = &one;
    message.msg_iovlen = 1;
    EXPECT_TRUE(kernel::recvmsg(pair.first.get(), &message, 0).would_block());
    std::array<char, 65536> much{};
    io_result sent;
    while ((sent = kernel::send(pair.first.get(), much.data(), much.size(), 0))) {}
    EXPECT_TRUE(sent.would_block());
    EXPECT_TRUE(kernel::sendmsg(pair.first.get(), &message, 0).would_block());
}

TEST(KernelIo, ADeadPeerIsAnErrorAndNoSignal) {
    EXPECT_EQ(test::in_child([] {
                  std::signal(SIGPIPE, SIG_DFL);
                  auto pair = test::unix_stream_pair();
                  pair.second.reset();
                  char byte = 0;
                  iovec one{&byte, 1};
                  msghdr message{};
                  message.msg_iov = &one;
                  message.msg_iovlen = 1;
                  EXPECT_EQ(kernel::send(pair.first.get(), &byte, 1, 0), error(EPIPE));
                  EXPECT_EQ(kernel::sendmsg(pair.first.get(), &message, 0), error(EPIPE));
                  return 0;
              }),
              0);
}

TEST(KernelIo, WhatIsAcceptedIsCloexec) {
    const test::tcp_listener listener;
    const unique_fd client = listener.connect();
    const io_result result = kernel::accept(listener.get(), nullptr, nullptr, 0);
    ASSERT_TRUE(result);
    const unique_fd accepted(result.fd());
    EXPECT_TRUE(test::is_cloexec(accepted.get()));
    EXPECT_EQ(kernel::shutdown(accepted.get(), SHUT_WR), io_result::value(0));
    EXPECT_EQ(test::read_to_end(client.get()), "");
}

TEST(KernelIo, PassedDescriptorsAreCloexec) {
    const auto pair = test::unix_stream_pair();
    const unique_fd sent = test::make_eventfd();
    char byte = 'x';
    iovec one{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &one;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = sent.get();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
    ASSERT_EQ(kernel::sendmsg(pair.first.get(), &message, 0), io_result::value(1));
    ASSERT_EQ(kernel::recvmsg(pair.second.get(), &message, 0), io_result::value(1));
    int received = -1;
    std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
    const unique_fd owner(received);
    EXPECT_TRUE(test::is_cloexec(received));
}

TEST(KernelIo, AConnectThatFailsSaysWhy) {
    const test::tcp_listener listener;
    kernel::fail(kernel::call::connect, ECONNREFUSED);
    sockaddr_in address{};
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(kernel::connect(-1, generic, sizeof address), error(ECONNREFUSED));
    EXPECT_EQ(kernel::connect(-1, generic, sizeof address), error(EBADF));
    kernel::fail_nothing();
}

TEST(KernelIo, TellsHowAConnectHasEnded) {
    EXPECT_EQ(kernel::connect_result(test::tcp_pair().first.get()), io_result::value(0));
    EXPECT_EQ(kernel::connect_result(-1), error(EBADF));
}

TEST(KernelIo, SaysWhatIsReadyNow) {
    const auto pair = test::unix_stream_pair();
    const auto both = interest::readable | interest::writable;
    const auto ready = [&] {
        return static_cast<interest>(kernel::ready_now(pair.first.get(), both).raw());
    };
    EXPECT_EQ(ready(), interest::writable);
    test::send_all(pair.second.get(), "x");
    EXPECT_EQ(ready(), both);
    EXPECT_EQ(kernel::ready_now(12345, both),
              io_result::value(static_cast<std::int64_t>(interest::invalid)));
}

class KernelOpen : public ::testing::TestWithParam<std::uint64_t> {
protected:
    io_result open(const char* name, int flags, std::uint32_t mode) {
        return kernel::open(at_.get(), name, flags, mode, GetParam());
    }

    test::scratch_directory directory_;
    unique_fd at_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_P(KernelOpen, MakesAFileWithItsMode) {
    const unique_fd file(open("a", O_RDWR | O_CREAT | O_EXCL, 0640).fd());
    ASSERT_TRUE(file);
    EXPECT_TRUE(test::is_cloexec(file.get()));
    struct stat status{};
    ASSERT_EQ(::fstat(file.get(), &status), 0);
    EXPECT_EQ(status.st_mode & 0700U, 0600U);
    EXPECT_EQ(open("a", O_RDWR | O_CREAT | O_EXCL, 0640), error(EEXIST));
}

TEST_P(KernelOpen, OverlooksAModeThatHasNoUse) {
    directory_.file("a");
    EXPECT_TRUE(unique_fd(open("a", O_RDONLY, 0644).fd()));
    EXPECT_TRUE(unique_fd(open(".", O_RDONLY | O_DIRECTORY, 0644).fd()));
}

TEST_P(KernelOpen, OverlooksTheTypeOfAFileInAMode) {
    EXPECT_TRUE(unique_fd(open("a", O_RDWR | O_CREAT, S_IFREG | 0600).fd()));
}

TEST_P(KernelOpen, SaysWhatIsNotThere) { EXPECT_EQ(open("b", O_RDONLY, 0), error(ENOENT)); }

INSTANTIATE_TEST_SUITE_P(Way, KernelOpen,
                         ::testing::Values(std::uint64_t{0}, std::uint64_t{RESOLVE_BENEATH}),
                         [](const auto& test) { return test.param == 0 ? "openat" : "openat2"; });

TEST(KernelOpenBeneath, IsHeldInItsDirectory) {
    const test::scratch_directory directory;
    const unique_fd at(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(kernel::open(at.get(), "..", O_RDONLY, 0, RESOLVE_BENEATH), error(EXDEV));
}

TEST(KernelClose, TellsThatItWasNotOpen) { EXPECT_EQ(kernel::close(-1), error(EBADF)); }

}  // namespace
}  // namespace eddy::test::io_test
