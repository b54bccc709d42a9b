// SPDX-License-Identifier: Apache-2.0
// The end of a descriptor: what is pending on it, what its number becomes next, and who else
// closes.
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::closing_test {
namespace {

class Closing : public EngineTest {
protected:
    static void move_to(int number, unique_fd& fd) {
        ASSERT_EQ(::dup3(fd.get(), number, O_CLOEXEC), number);
        fd.reset(number);
    }
};
EDDY_ON_EVERY_ENGINE(Closing);

TEST_P(Closing, EndsEachPendingOperationOnceWithCanceled) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    const std::string much(8U << 20, 'x');
    recorder reader;
    recorder second_reader;
    recorder waiter;
    recorder stream;
    recorder writer;
    recorder second_writer;
    start(reader, recv(d, bytes(buffer)));
    start(second_reader, recv(d, bytes(buffer)), clock::now() + 1h);
    start(waiter, wait(d, interest::readable));
    start(stream, wait_multishot(d, interest::priority));
    do {
        start(writer, send(d, bytes(much)));
        turns_in(2ms);
    } while (writer.ended());
    start(second_writer, send(d, bytes(much)));
    turns_in(1ms);
    d.close();
    EXPECT_FALSE(d);
    for (recorder* r : {&reader, &second_reader, &waiter, &stream, &writer, &second_writer}) {
        ASSERT_TRUE(ends(*r));
        EXPECT_EQ(r->error(), std::errc::operation_canceled);
    }
    settle();
    for (recorder* r : {&reader, &second_reader, &waiter, &stream, &writer, &second_writer}) {
        EXPECT_EQ(r->results().size(), 1U);
    }
    EXPECT_TRUE(loop().empty());
}

TEST_P(Closing, IsSeenByThePeerWithinFewTurns) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    turns_in(1ms);
    d.close();
    for (int i = 0; i != 3; ++i) {
        loop().poll();
    }
    EXPECT_TRUE(becomes_ready(pair.second.get(), 1, 1000));
    EXPECT_EQ(read_to_end(pair.second.get()), "");
    ASSERT_TRUE(ends(r));
}

TEST_P(Closing, FreesTheNumberForOneThatGetsNoOldEvents) {
    for (int round = 0; round != 20; ++round) {
        fd_pair old = tcp_pair();
        fd_pair fresh = tcp_pair();
        descriptor d = attach(std::move(old.first));
        const int number = d.native_handle();
        std::string buffer(8, '\0');
        recorder r;
        start(r, recv(d, bytes(buffer)));
        turns_in(1ms);
        send_all(old.second.get(), "old");
        d.close();
        ASSERT_TRUE(ends(r));
        ASSERT_TRUE(until([&] { return !is_open(number); }));
        move_to(number, fresh.first);
        const descriptor next = attach(std::move(fresh.first));
        recorder reader;
        recorder waiter;
        std::string next_buffer(8, '\0');
        start(reader, recv(next, bytes(next_buffer)));
        start(waiter, wait(next, interest::readable));
        turns_in(2ms);
        ASSERT_FALSE(reader.ended());
        ASSERT_FALSE(waiter.ended());
        send_all(fresh.second.get(), "new");
        ASSERT_TRUE(ends(reader));
        EXPECT_EQ(next_buffer.substr(0, reader.count()), "new");
        ASSERT_TRUE(ends(waiter));
    }
}

TEST_P(Closing, ByACompletionOfOneWhoseEventIsInTheSameBatch) {
    fd_pair one = tcp_pair();
    fd_pair two = tcp_pair();
    descriptor d1 = attach(std::move(one.first));
    descriptor d2 = attach(std::move(two.first));
    std::string b1(8, '\0');
    std::string b2(8, '\0');
    std::size_t finished = 0;
    recorder r1([&](recorder&) {
        ++finished;
        d2.close();
    });
    recorder r2([&](recorder&) {
        ++finished;
        d1.close();
    });
    start(r1, recv(d1, bytes(b1)));
    start(r2, recv(d2, bytes(b2)));
    turns_in(1ms);
    send_all(one.second.get(), "1");
    send_all(two.second.get(), "2");
    ASSERT_TRUE(ends(r1));
    ASSERT_TRUE(ends(r2));
    settle();
    EXPECT_EQ(finished, 2U);
    EXPECT_FALSE(d1);
    EXPECT_FALSE(d2);
}

TEST_P(Closing, OfItsOwnDescriptorInACompletionIsFine) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder second;
    recorder r([&](recorder&) { d.close(); });
    start(r, recv(d, bytes(buffer)));
    start(second, recv(d, bytes(buffer)));
    turns_in(1ms);
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(ends(r));
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(r.count(), 1U);
    EXPECT_EQ(second.error(), std::errc::operation_canceled);
    EXPECT_EQ(read_to_end(pair.second.get()), "");
}

TEST_P(Closing, MakesRequestsOnTheOldHandleFail) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    const io_request request = recv(d, bytes(buffer));
    const io_request waiting = wait(d, interest::readable);
    d.close();
    settle();
    recorder r;
    for (const io_request& stale : {request, waiting}) {
        start(r, stale);
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
    }
    start(r, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::bad_file_descriptor);
}

TEST_P(Closing, OfAStreamOfConnectionsClosesTheListener) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    descriptor d = attach(listener.take());
    recorder r;
    start(r, accept_multishot(d));
    turns_in(1ms);
    d.close();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
    settle();
    EXPECT_THROW(tcp_connect(port), std::system_error);
}

class Release : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Release);

TEST_P(Release, GivesTheDescriptorBackAsItWas) {
    for (const bool nonblocking : {false, true}) {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), nonblocking);
        const int number = pair.first.get();
        descriptor d = attach(std::move(pair.first));
        std::string buffer(8, '\0');
        recorder r;
        start(r, recv(d, bytes(buffer)));
        turns_in(1ms);
        unique_fd back;
        ASSERT_FALSE(d.release(back));
        EXPECT_EQ(back.get(), number);
        EXPECT_EQ(is_nonblocking(number), nonblocking);
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        send_all(pair.second.get(), "abc");
        EXPECT_EQ(recv_exactly(number, 3), "abc");
        const descriptor again = attach(std::move(back));
        send_all(pair.second.get(), "abc");
        start(r, recv(again, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 3U);
    }
}

TEST_P(Release, BeforeTheFirstRunDoesNotHang) {
    fd_pair pair = tcp_pair();
    descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    unique_fd back;
    ASSERT_FALSE(d.release(back));
    EXPECT_TRUE(is_open(back.get()));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
    send_all(pair.second.get(), "abc");
    EXPECT_EQ(recv_exactly(back.get(), 3), "abc");
}

TEST_P(Release, OfNothingIsAnError) {
    descriptor d;
    unique_fd back;
    EXPECT_EQ(d.release(back), std::errc::bad_file_descriptor);
}

class BlockingMode : public EngineTest {};
EDDY_ON_EVERY_ENGINE(BlockingMode);

TEST_P(BlockingMode, IsNeverChangedOnTheStandardDescriptors) {
    const int result = in_child([] {
        fd_pair pipe = make_pipe();
        if (::dup2(pipe.first.get(), 0) != 0 || ::dup2(pipe.second.get(), 1) != 1) {
            return 1;
        }
        eddy::loop loop({.engine = GetParam()});
        descriptor in(loop, unique_fd(0));
        descriptor out(loop, unique_fd(1));
        if (is_nonblocking(0) || is_nonblocking(1)) {
            return 2;
        }
        std::string buffer(64, '\0');
        recorder r;
        r.start(loop, read(in, bytes(buffer)));
        loop.run_for(5ms);
        if (r.ended() || is_nonblocking(0)) {
            return 3;
        }
        recorder w;
        w.start(loop, write(out, bytes("hello")));
        loop.run(run_mode::empty);
        return buffer.substr(0, r.count()) == "hello" && w.count() == 5 ? 0 : 4;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(BlockingMode, OfAStandardDescriptorDoesNotLetABigWriteBlockTheLoop) {
    const int result = in_child([] {
        fd_pair pipe = make_pipe();
        if (::dup2(pipe.second.get(), 1) != 1) {
            return 1;
        }
        eddy::loop loop({.engine = GetParam()});
        descriptor out(loop, unique_fd(1));
        const std::string much(1U << 20, 'x');
        std::size_t written = 0;
        recorder w([&](recorder& self) {
            written += self.count();
            if (self.result()) {
                self.start(loop, write(out, bytes(much)));
            }
        });
        w.start(loop, write(out, bytes(much)));
        const time_point before = clock::now();
        loop.run_for(50ms);
        if (clock::now() - before > 5s || !w.operation().pending()) {
            return 2;
        }
        loop.cancel(w.operation());
        loop.run(run_mode::empty, {.until = clock::now() + patience});
        written += 0;
        return !w.operation().pending() && written == bytes_waiting(pipe.first.get()) ? 0 : 3;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(BlockingMode, IsNeverChangedOnATerminal) {
    fd_pair pty = make_pty();
    const descriptor d = attach(std::move(pty.second));
    EXPECT_EQ(d.kind(), descriptor_kind::tty);
    EXPECT_FALSE(is_nonblocking(d.native_handle()));
    recorder w;
    start(w, write(d, bytes("out")));
    ASSERT_TRUE(ends(w));
    EXPECT_EQ(recv_exactly(pty.first.get(), 3), "out");
    std::string buffer(8, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    turns_in(5ms);
    EXPECT_FALSE(r.ended());
    EXPECT_FALSE(is_nonblocking(d.native_handle()));
    write_all(pty.first.get(), "in\n");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer.substr(0, r.count()), "in\n");
}

TEST_P(BlockingMode, OfATerminalDoesNotKeepAReadFromBeingCancelled) {
    fd_pair pty = make_pty();
    const descriptor d = attach(std::move(pty.second));
    std::string buffer(8, '\0');
    recorder r;
    start(r, read(d, bytes(buffer)));
    turns_in(5ms);
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
}

}  // namespace
}  // namespace eddy::test::closing_test
