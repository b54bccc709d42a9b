// SPDX-License-Identifier: Apache-2.0
// Descriptors that others close, and fds that cannot be attached.
#include "support/engine_fixture.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::foreign_close_test {
namespace {

class ForeignClose : public EngineTest {
protected:
    /// Closes what is at `number` and puts `fd` there.
    static void close_and_reuse(int number, unique_fd& fd) {
        ASSERT_EQ(::dup3(fd.get(), number, O_CLOEXEC), number);
        fd.reset(number);
    }
};
EDDY_ON_EVERY_ENGINE(ForeignClose);

TEST_P(ForeignClose, IsFoundWhenTheNumberIsAttachedAgain) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    std::string buffer(8, '\0');
    recorder reader;
    recorder waiter;
    start(reader, recv(d, bytes(buffer)));
    start(waiter, wait(d, interest::priority));
    turns_in(1ms);
    fd_pair fresh = unix_stream_pair();
    close_and_reuse(number, fresh.first);
    const descriptor next = attach(std::move(fresh.first));
    ASSERT_TRUE(ends(reader));
    ASSERT_TRUE(ends(waiter));
    EXPECT_EQ(reader.error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(waiter.error(), std::errc::bad_file_descriptor);
    EXPECT_FALSE(d);
    recorder stale;
    start(stale, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(stale));
    EXPECT_EQ(stale.error(), std::errc::bad_file_descriptor);
    d.close();
    EXPECT_EQ(next.native_handle(), number);
    recorder r;
    start(r, recv(next, bytes(buffer)));
    turns_in(1ms);
    ASSERT_FALSE(r.ended()) << r.error() << r.count();
    send_all(fresh.second.get(), "new");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "new");
}

TEST_P(ForeignClose, WhatWaitsBehindAReceiveTakesNothingOfTheNextFile) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    send_all(pair.second.get(), "x");
    ASSERT_EQ(::shutdown(pair.second.get(), SHUT_WR), 0);
    fd_pair fresh = unix_stream_pair();
    send_all(fresh.second.get(), "secret");
    descriptor next;
    recorder first([&](recorder&) {
        if (!next) {
            close_and_reuse(number, fresh.first);
            next = attach(std::move(fresh.first));
        }
    });
    std::string buffer(8, '\0');
    recorder behind;
    start(first, receive_multishot(d));
    start(behind, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(behind));
    EXPECT_EQ(behind.error(), std::errc::bad_file_descriptor);
    ASSERT_TRUE(until([&] { return !first.operation().pending(); }));
    recorder reader;
    start(reader, recv(next, bytes(buffer)));
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(buffer.substr(0, reader.count()), "secret");
}

TEST_P(ForeignClose, IsFoundByTheCallItself) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    recorder reader;
    std::string buffer(8, '\0');
    start(reader, recv(d, bytes(buffer)));
    turns_in(1ms);
    ASSERT_EQ(::close(number), 0);
    recorder writer;
    start(writer, send(d, bytes("x")));
    ASSERT_TRUE(ends(writer));
    EXPECT_EQ(writer.error(), std::errc::bad_file_descriptor);
    if (!on(engine_kind::io_uring)) {
        ASSERT_TRUE(ends(reader));
        EXPECT_EQ(reader.error(), std::errc::bad_file_descriptor);
    } else {
        loop().cancel(reader.operation());
        ASSERT_TRUE(ends(reader));
    }
    EXPECT_EQ(reader.results().size(), 1U);
}

TEST_P(ForeignClose, BetweenTheEventAndTheCallCompletesEachOnce) {
    fd_pair one = tcp_pair();
    fd_pair two = tcp_pair();
    const descriptor d1 = attach(std::move(one.first));
    const descriptor d2 = attach(std::move(two.first));
    std::string b1(8, '\0');
    std::string b2(8, '\0');
    std::string b3(8, '\0');
    recorder second;
    recorder third;
    recorder first([&](recorder&) { ::close(d2.native_handle()); });
    start(first, recv(d1, bytes(b1)));
    start(second, recv(d2, bytes(b2)));
    start(third, recv(d2, bytes(b3)));
    turns_in(1ms);
    send_all(one.second.get(), "1");
    send_all(two.second.get(), "2");
    ASSERT_TRUE(ends(first));
    ASSERT_TRUE(ends(second));
    loop().cancel(third.operation());
    ASSERT_TRUE(ends(third));
    settle();
    EXPECT_EQ(second.results().size(), 1U);
    EXPECT_EQ(third.results().size(), 1U);
}

TEST_P(ForeignClose, DoesNotMakeUsCloseWhatAnotherOpenedThere) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    const int number = d.native_handle();
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    turns_in(1ms);
    fd_pair others = make_pipe();
    close_and_reuse(number, others.first);
    d.close();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
    settle();
    EXPECT_TRUE(is_open(number));
    write_all(others.second.get(), "mine");
    EXPECT_EQ(recv_exactly(others.first.get(), 4), "mine");
}

TEST_P(ForeignClose, IsEndedByADeadlineUntilItIsFound) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)), clock::now() + 50ms);
    turns_in(1ms);
    ASSERT_EQ(::close(d.native_handle()), 0);
    ASSERT_TRUE(ends(r));
    if (on(engine_kind::poll)) {
        EXPECT_EQ(r.error(), std::errc::bad_file_descriptor) << "poll() says so";
    } else {
        EXPECT_EQ(r.error(), make_error_code(errc::timed_out));
    }
    EXPECT_LE(turns_in(100ms), 20U);
}

class Attach : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Attach);

TEST_P(Attach, OfWhatIsNotOpenIsAnError) {
    static_cast<void>(loop());
    unique_fd closed(make_eventfd().get());
    descriptor out;
    EXPECT_EQ(descriptor::attach(loop(), closed, out), std::errc::bad_file_descriptor);
    EXPECT_FALSE(out);
    EXPECT_TRUE(closed) << "it keeps its fd";
    static_cast<void>(closed.release());
    unique_fd none;
    EXPECT_EQ(descriptor::attach(loop(), none, out), std::errc::bad_file_descriptor);
    EXPECT_THROW(attach(unique_fd()), std::system_error);
}

TEST_P(Attach, OfOneThatIsAttachedAlreadyIsAnError) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    unique_fd same(d.native_handle());
    descriptor out;
    EXPECT_EQ(descriptor::attach(loop(), same, out), std::errc::file_exists);
    static_cast<void>(same.release());
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U) << r.error();
}

TEST_P(Attach, OfADuplicateIsAnother) {
    fd_pair pair = tcp_pair();
    unique_fd copy(::fcntl(pair.first.get(), F_DUPFD_CLOEXEC, 0));
    descriptor d = attach(std::move(pair.first));
    const descriptor e = attach(std::move(copy));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(e, bytes(buffer)));
    turns_in(1ms);
    d.close();
    settle();
    ASSERT_FALSE(r.ended());
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U) << r.error();
}

TEST_P(Attach, SaysWhatKindItIs) {
    const scratch_directory directory;
    fd_pair tcp = tcp_pair();
    fd_pair local = unix_stream_pair();
    fd_pair packets = unix_packet_pair();
    fd_pair pipe = make_pipe();
    EXPECT_EQ(attach(std::move(tcp.first)).kind(), descriptor_kind::tcp);
    EXPECT_EQ(attach(std::move(local.first)).kind(), descriptor_kind::stream);
    EXPECT_EQ(attach(std::move(packets.first)).kind(), descriptor_kind::datagram);
    EXPECT_EQ(attach(std::move(pipe.first)).kind(), descriptor_kind::pipe);
    EXPECT_EQ(attach(directory.file("f")).kind(), descriptor_kind::file);
    EXPECT_EQ(attach(make_eventfd()).kind(), descriptor_kind::other);
    EXPECT_EQ(descriptor().kind(), descriptor_kind::unknown);
}

/// Only epoll tells anonymous files apart.
class AttachToEpoll : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engine, AttachToEpoll, ::testing::Values(engine_kind::epoll), engine_name);

TEST_P(AttachToEpoll, OfAnEventfdTwiceIsAnError) {
    const descriptor d = attach(make_eventfd());
    unique_fd same(d.native_handle());
    descriptor out;
    EXPECT_EQ(descriptor::attach(loop(), same, out), std::errc::file_exists);
    static_cast<void>(same.release());
}

}  // namespace
}  // namespace eddy::test::foreign_close_test
