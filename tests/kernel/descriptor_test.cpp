// SPDX-License-Identifier: Apache-2.0
#include "kernel/descriptor.hpp"
#include "support/fds.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::descriptor_test {
namespace {

using namespace eddy;
using kernel::file_facts;
using kernel::file_type;

file_facts examined(int fd) {
    file_facts facts;
    EXPECT_FALSE(kernel::examine(fd, facts)) << "fd " << fd;
    return facts;
}

file_type type_of(const unique_fd& fd) { return examined(fd.get()).type; }

unique_fd opened(const char* path, int flags) { return unique_fd(::open(path, flags | O_CLOEXEC)); }

unique_fd made_socket(int family, int type, int protocol = 0) {
    return unique_fd(::socket(family, type | SOCK_CLOEXEC, protocol));
}

TEST(Examine, TellsSocketsApart) {
    EXPECT_EQ(type_of(made_socket(AF_INET, SOCK_STREAM)), file_type::tcp_socket);
    EXPECT_EQ(type_of(test::tcp_pair().first), file_type::tcp_socket);
    EXPECT_EQ(type_of(made_socket(AF_INET, SOCK_DGRAM)), file_type::message_socket);
    EXPECT_EQ(type_of(made_socket(AF_UNIX, SOCK_STREAM)), file_type::stream_socket);
    EXPECT_EQ(type_of(made_socket(AF_UNIX, SOCK_DGRAM)), file_type::message_socket);
    EXPECT_EQ(type_of(made_socket(AF_UNIX, SOCK_SEQPACKET)), file_type::message_socket);
}

TEST(Examine, AnIpv6SocketIsTcpToo) {
    const unique_fd fd = made_socket(AF_INET6, SOCK_STREAM);
    if (!fd) {
        GTEST_SKIP() << "no IPv6 here";
    }
    EXPECT_EQ(type_of(fd), file_type::tcp_socket);
}

TEST(Examine, KnowsBothEndsOfAPipe) {
    const auto pipe = test::make_pipe();
    EXPECT_EQ(type_of(pipe.first), file_type::pipe);
    EXPECT_EQ(type_of(pipe.second), file_type::pipe);
}

TEST(Examine, KnowsANamedPipe) {
    const test::scratch_directory directory;
    const std::string path = directory.path("fifo");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(type_of(opened(path.c_str(), O_RDWR)), file_type::pipe);
}

TEST(Examine, KnowsTerminalsFromOtherDevices) {
    const auto pty = test::make_pty();
    EXPECT_EQ(type_of(pty.second), file_type::tty);
    EXPECT_EQ(type_of(opened("/dev/null", O_RDWR)), file_type::other);
}

TEST(Examine, WhatIsAlwaysReadyIsAFile) {
    const test::scratch_directory directory;
    EXPECT_EQ(type_of(directory.file("a")), file_type::file);
    EXPECT_EQ(type_of(opened(directory.path().c_str(), O_RDONLY | O_DIRECTORY)), file_type::file);
    EXPECT_EQ(type_of(unique_fd(::memfd_create("a", MFD_CLOEXEC))), file_type::file);
}

TEST(Examine, WhatHasNoInodeOfItsOwnIsOther) {
    sigset_t none;
    sigemptyset(&none);
    const std::pair<const char*, unique_fd> made[] = {
        {"eventfd", test::make_eventfd()},
        {"timerfd", unique_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC))},
        {"signalfd", unique_fd(::signalfd(-1, &none, SFD_CLOEXEC))},
        {"inotify", unique_fd(::inotify_init1(IN_CLOEXEC))},
        {"epoll", unique_fd(::epoll_create1(EPOLL_CLOEXEC))},
    };
    for (const auto& [name, fd] : made) {
        const file_facts facts = examined(fd.get());
        EXPECT_EQ(facts.type, file_type::other) << name;
        EXPECT_EQ(facts.identity, 0U) << name;
    }
}

TEST(Examine, APidfdIsOther) {
    const unique_fd fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!fd) {
        GTEST_SKIP() << "no pidfds here";
    }
    EXPECT_EQ(type_of(fd), file_type::other);
}

TEST(Examine, TellsFilesBehindOneNumberApart) {
    const auto identity = [](const unique_fd& fd) { return examined(fd.get()).identity; };
    const auto pipe = test::make_pipe();
    EXPECT_EQ(identity(pipe.first), identity(pipe.first));
    EXPECT_EQ(identity(pipe.first), identity(unique_fd(::dup(pipe.first.get()))));
    // One after the other, and so with inode numbers that are close to each other.
    std::set<std::uint32_t> seen{0};
    for (int i = 0; i != 16; ++i) {
        EXPECT_TRUE(seen.insert(identity(test::make_pipe().first)).second) << i;
        EXPECT_TRUE(seen.insert(identity(made_socket(AF_INET, SOCK_STREAM))).second) << i;
    }
}

TEST(Examine, SaysWhenAnFdIsNotOpen) {
    file_facts facts;
    EXPECT_EQ(kernel::examine(-1, facts), std::errc::bad_file_descriptor);
    int closed = -1;
    {
        const auto pipe = test::make_pipe();
        closed = pipe.first.get();
    }
    EXPECT_EQ(kernel::examine(closed, facts), std::errc::bad_file_descriptor);
}

TEST(SetNonblocking, SaysHowItWasAndGoesBack) {
    const auto pipe = test::make_pipe();
    const int fd = pipe.first.get();
    bool was = true;
    EXPECT_FALSE(kernel::set_nonblocking(fd, true, was));
    EXPECT_FALSE(was);
    EXPECT_TRUE(test::is_nonblocking(fd));
    EXPECT_FALSE(kernel::set_nonblocking(fd, true, was));
    EXPECT_TRUE(was);
    EXPECT_FALSE(kernel::set_nonblocking(fd, false, was));
    EXPECT_TRUE(was);
    EXPECT_FALSE(test::is_nonblocking(fd));
}

TEST(SetNonblocking, LeavesTheOtherFlagsAlone) {
    const test::scratch_directory directory;
    const unique_fd fd(::open(directory.path("a").c_str(), O_RDWR | O_CREAT | O_APPEND, 0600));
    bool was = true;
    ASSERT_FALSE(kernel::set_nonblocking(fd.get(), true, was));
    ASSERT_FALSE(kernel::set_nonblocking(fd.get(), false, was));
    EXPECT_NE(::fcntl(fd.get(), F_GETFL) & O_APPEND, 0);
}

TEST(SetNonblocking, SaysWhenAnFdIsNotOpen) {
    bool was = false;
    EXPECT_EQ(kernel::set_nonblocking(-1, true, was), std::errc::bad_file_descriptor);
}

}  // namespace
}  // namespace eddy::test::descriptor_test
