// SPDX-License-Identifier: Apache-2.0
// A writer that collects small writes.
#include "io/io_fixture.hpp"
#include "kernel/call.hpp"

#include <eddy/io/buffered.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace eddy::test::buffered_test {
namespace {

/// The beginning of the kernel's struct tcp_info, of which the C library declares less.
struct long_tcp_info {
    tcp_info common;
    std::uint64_t rates_and_bytes[4];
    std::uint32_t segments_and_times[5];
    std::uint32_t data_segments_out;
};
static_assert(sizeof(tcp_info) == 104 && offsetof(long_tcp_info, data_segments_out) == 156);

class Buffered : public IoTest {
protected:
    void SetUp() override {
        IoTest::SetUp();
        if (!IsSkipped()) {
            const tcp::acceptor acceptor(loop(), address::loopback_v4(0));
            address where;
            EXPECT_FALSE(acceptor.local_address(where));
            peer_ = tcp_connect(where.port());
            socket_ = run(acceptor.accept());
        }
    }
    void TearDown() override {
        socket_ = tcp::socket();
        peer_.reset();
        IoTest::TearDown();
    }
    /// How many segments with data the socket has sent.
    unsigned segments() const {
        long_tcp_info info{};
        socklen_t size = sizeof info;
        EXPECT_EQ(::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
        EXPECT_EQ(size, sizeof info);
        return info.data_segments_out;
    }
    std::string received() { return recv_exactly(peer_.get(), bytes_waiting(peer_.get())); }
    /// So much that a socket has no room for all of it.
    static std::string much() { return std::string(16U << 20U, 'm'); }

    tcp::socket socket_;
    unique_fd peer_;
};
EDDY_ON_EVERY_ENGINE(Buffered);

TEST_P(Buffered, SendsManySmallWritesInOneSegment) {
    buffered_writer out = buffered(socket_);
    std::string expected;
    for (int i = 0; i != 100; ++i) {
        const std::string line = "line " + std::to_string(i) + "\n";
        expected += line;
        run(out.write(bytes(line)));
    }
    EXPECT_EQ(segments(), 0U);
    EXPECT_EQ(out.collected(), expected.size());
    run(out.flush());
    EXPECT_EQ(segments(), 1U);
    EXPECT_EQ(out.collected(), 0U);
    EXPECT_EQ(recv_exactly(peer_.get(), expected.size()), expected);
}

TEST_P(Buffered, MakesNoCallForAWriteThatFits) {
    buffered_writer out = buffered(socket_);
    std::uint64_t calls = 0;
    unsigned written = 0;
    started write(loop(), ex::just() | ex::let_value([&] {
                              calls = kernel::calls_made();
                              return out.write(bytes("one")) |
                                     ex::let_value([&] { return out.write(bytes("two")); }) |
                                     ex::then([&] {
                                         calls = kernel::calls_made() - calls;
                                         return ++written;
                                     });
                          }));
    ASSERT_TRUE(ends(write));
    EXPECT_EQ(written, 1U);
    EXPECT_EQ(calls, 0U);
    EXPECT_EQ(out.collected(), 6U);
}

TEST_P(Buffered, SendsAWriteThatDoesNotFitTogetherWithWhatWasCollected) {
    buffered_writer out = buffered(socket_, 8);
    run(out.write(bytes("head")));
    run(out.write(bytes("full")));
    EXPECT_EQ(segments(), 0U);
    run(out.write(bytes("body")));
    EXPECT_EQ(segments(), 1U);
    EXPECT_EQ(out.collected(), 0U);
    EXPECT_EQ(recv_exactly(peer_.get(), 12), "headfullbody");
}

TEST_P(Buffered, SendsALargeWriteWhole) {
    buffered_writer out = buffered(socket_);
    const std::string text = much();
    run(out.write(bytes("head")));
    started write(loop(), out.write(bytes(text)));
    std::string got;
    ASSERT_TRUE(until_driven([&] {
        got += received();
        return got.size() == 4 + text.size();
    }));
    ASSERT_TRUE(ends(write));
    EXPECT_TRUE(write.has_value());
    EXPECT_EQ(got, "head" + text);
}

TEST_P(Buffered, DropsWhatWasNotFlushedWhenItIsDestroyed) {
    {
        buffered_writer out = buffered(socket_);
        run(out.write(bytes("never")));
    }
    run(socket_.write(bytes("x")));
    run(socket_.shutdown(shutdown_side::send));
    EXPECT_EQ(read_to_end(peer_.get()), "x");
}

TEST_P(Buffered, FlushesNothingAtOnce) {
    buffered_writer out = buffered(socket_);
    run(out.flush());
    EXPECT_EQ(segments(), 0U);
}

TEST_P(Buffered, KeepsWhatAStoppedFlushHasNotSent) {
    const std::string text = much();
    buffered_writer out = buffered(socket_, text.size() + 8);
    run(out.write(bytes(text)));
    {
        started flush(loop(), out.flush());
        settle();
        ASSERT_FALSE(flush.ended());
        flush.stop();
        ASSERT_TRUE(ends(flush));
        EXPECT_TRUE(flush.stopped());
    }
    EXPECT_LT(out.collected(), text.size());
    EXPECT_GT(out.collected(), 0U);
    run(out.write(bytes("tail")));
    started rest(loop(), out.flush());
    std::string got;
    ASSERT_TRUE(until_driven([&] {
        got += received();
        return got.size() == text.size() + 4;
    }));
    ASSERT_TRUE(ends(rest));
    EXPECT_EQ(got, text + "tail");
}

TEST_P(Buffered, RefusesToGoOnBehindAWriteThatWasCut) {
    buffered_writer out = buffered(socket_);
    const std::string text = much();
    {
        started write(loop(), out.write(bytes(text)));
        settle();
        ASSERT_FALSE(write.ended());
        write.stop();
        ASSERT_TRUE(ends(write));
        EXPECT_TRUE(write.stopped());
    }
    EXPECT_EQ(error_of(out.write(bytes("more"))), std::errc::broken_pipe);
    EXPECT_EQ(error_of(out.flush()), std::errc::broken_pipe);
}

TEST_P(Buffered, RefusesToGoOnBehindAnOperationThatWasDestroyed) {
    buffered_writer out = buffered(socket_);
    const std::string text = much();
    {
        started write(loop(), out.write(bytes(text)));
        settle();
        ASSERT_FALSE(write.ended());
    }
    EXPECT_EQ(error_of(out.flush()), std::errc::broken_pipe);
}

TEST_P(Buffered, FailsWithTheErrorOfTheStream) {
    reset_on_close(peer_.get());
    peer_.reset();
    buffered_writer out = buffered(socket_);
    run(out.write(bytes("x")));
    ASSERT_TRUE(until_driven([&] {
        const std::error_code error = error_of(out.flush());
        return error == std::errc::connection_reset || error == std::errc::broken_pipe;
    }));
}

TEST_P(Buffered, SaysThatTwoWritesMustNotBePendingAtATime) {
    const auto mistake = [] {
        eddy::loop home({.engine = GetParam()});
        const pipe_ends ends = eddy::make_pipe(home);
        buffered_writer out = buffered(ends.writer);
        const std::string text = much();
        const started first(home, out.write(bytes(text)));
        const started second(home, out.write(bytes("x")));
        home.run_for(patience);
    };
    EXPECT_DEATH(mistake(), "buffered_writer was used while a write or flush was pending");
}

TEST_P(Buffered, WritesToAnEmptyStreamFail) {
    buffered_writer out = buffered(stream());
    EXPECT_EQ(error_of(out.write(bytes("x"))), bad_fd);
}

TEST_P(Buffered, WorksForPipesAndAfterItsHandleWasMoved) {
    auto [reader, writer] = eddy::make_pipe(loop());
    buffered_writer out = buffered(writer);
    run(out.write(bytes("ab")));
    const stream moved = std::move(writer);
    buffered_writer other = std::move(out);
    run(other.write(bytes("cd")));
    run(other.flush());
    std::string got(4, '\0');
    EXPECT_EQ(run(reader.read(bytes(got))), 4U);
    EXPECT_EQ(got, "abcd");
}

}  // namespace
}  // namespace eddy::test::buffered_test
