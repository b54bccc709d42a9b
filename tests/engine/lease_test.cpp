// SPDX-License-Identifier: Apache-2.0
// Receives into buffers that the loop lends.
#include "engine/lease_fixture.hpp"
#include "support/in_child.hpp"

#include <thread>

namespace eddy::test::lease_test {
namespace {

class Lease : public LeaseTest {};
EDDY_ON_EVERY_ENGINE(Lease);

TEST_P(Lease, HoldsWhatCame) {
    for (const pair_maker make :
         {tcp_pair, unix_stream_pair, unix_packet_pair, unix_datagram_pair, make_pipe}) {
        connection& c = waiting(make);
        c.send("hello");
        ASSERT_TRUE(ends(c.reader));
        ASSERT_EQ(c.reader.count(), 5U) << c.reader.error();
        EXPECT_EQ(text_of(kept.at(0)), "hello");
        EXPECT_EQ(out(), 1U);
        kept.clear();
    }
}

TEST_P(Lease, IsForEverythingThatCanBeRead) {
    fd_pair pty = make_pty();
    const descriptor terminal = attach(std::move(pty.second));
    write_all(pty.first.get(), "line\n");
    EXPECT_EQ(received(terminal), "line\n");
    const descriptor event = attach(make_eventfd(3));
    EXPECT_EQ(received(event).size(), 8U);
    const scratch_directory directory;
    const descriptor file = attach(directory.file("f", pattern(5000)));
    const std::string first = received(file);
    EXPECT_EQ(first.size(), 4096U);
    EXPECT_EQ(first + received(file), pattern(5000));
    EXPECT_EQ(received(file), "");
}

TEST_P(Lease, WorksOnAnFdThatWasNonBlockingBefore) {
    connection& c = waiting([] {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), true);
        return pair;
    });
    c.send("abc");
    ASSERT_TRUE(ends(c.reader));
    EXPECT_EQ(text_of(kept.at(0)), "abc");
}

TEST_P(Lease, IsEmptyAtTheEndOfTheStream) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        connection& c = connect(make);
        c.send("last");
        c.peer.reset();
        EXPECT_EQ(received(c.d), "last");
        ASSERT_NO_FATAL_FAILURE(receive_from(c));
        EXPECT_EQ(c.reader.result(), io_result::value(0)) << c.reader.error();
        EXPECT_TRUE(kept.back().empty());
        EXPECT_TRUE(kept.back().data().empty());
        EXPECT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsEmptyAfterAnError) {
    connection& c = waiting(tcp_pair);
    reset_on_close(c.peer.get());
    c.peer.reset();
    ASSERT_TRUE(ends(c.reader));
    EXPECT_EQ(c.reader.error(), std::errc::connection_reset);
    EXPECT_TRUE(kept.at(0).empty());
    EXPECT_EQ(out(), 0U);
}

TEST_P(Lease, BringsALongStreamInPieces) {
    make_loop({.lease_size = 1024});
    connection& c = connect();
    const std::string text = pattern(20'000);
    c.send(text);
    std::string all;
    for (int i = 0; i != 20 && all.size() != text.size(); ++i) {
        const std::string piece = received(c.d);
        EXPECT_LE(piece.size(), 1024U);
        all += piece;
    }
    EXPECT_EQ(all, text);
}

TEST_P(Lease, ThatNobodyTakesGoesBack) {
    connection& c = connect(tcp_pair);
    std::uint64_t inside = 0;
    c.reader.then([&](recorder&) { inside = out(); });
    for (int i = 0; i != 200; ++i) {
        c.send("x");
        ASSERT_NO_FATAL_FAILURE(receive_from(c));
        ASSERT_EQ(c.reader.count(), 1U);
        ASSERT_EQ(inside, 1U);
        ASSERT_EQ(out(), 0U);
    }
}

TEST_P(Lease, IsNotHeldByAnIdleConnection) {
    make_loop(two_buffers);
    for (int i = 0; i != 100; ++i) {
        waiting();
    }
    connections[77].send("one");
    ASSERT_TRUE(ends(connections[77].reader));
    EXPECT_EQ(text_of(kept.at(0)), "one");
    for (connection& c : connections) {
        c.d.close();
    }
    EXPECT_TRUE(until([&] { return kept.size() == 100; }));
}

TEST_P(Lease, StaysAsItIsWhileMoreArrive) {
    connection& c = connect(tcp_pair);
    for (int i = 0; i != 300; ++i) {
        c.send(std::to_string(i));
        ASSERT_NO_FATAL_FAILURE(receive_from(c));
    }
    EXPECT_EQ(out(), 300U);
    for (int i = 0; i != 300; ++i) {
        EXPECT_EQ(text_of(kept[static_cast<std::size_t>(i)]), std::to_string(i));
    }
    kept.clear();
    EXPECT_EQ(out(), 0U);
    c.send("again");
    EXPECT_EQ(received(c.d), "again");
}

TEST_P(Lease, IsGivenBackByAnotherThread) {
    make_loop(two_buffers);
    connection& c = connect(tcp_pair);
    for (int i = 0; i != 10; ++i) {
        c.send("text");
        ASSERT_NO_FATAL_FAILURE(receive_from(c));
        std::thread([given = std::move(kept.back())] { EXPECT_EQ(text_of(given), "text"); }).join();
        EXPECT_EQ(out(), 0U);
    }
}

TEST_P(Lease, OutlivesItsDescriptorAndItsLoop) {
    connection& c = connect(tcp_pair);
    for (const char* text : {"here", "elsewhere"}) {
        c.send(text);
        ASSERT_NO_FATAL_FAILURE(receive_from(c));
    }
    drop_connections();
    end_loop();
    EXPECT_EQ(text_of(kept.at(0)), "here");
    std::thread([given = std::move(kept.at(1))] { EXPECT_EQ(text_of(given), "elsewhere"); }).join();
}

TEST_P(Lease, OfAReceiveThatIsAbandonedGoesBack) {
    make_loop(two_buffers);
    for (int i = 0; i != 100; ++i) {
        connection& c = connect();
        begin(c);
        if (i % 2 == 0) {
            loop().poll();
        }
        c.send("x");
        loop().abandon(c.reader.operation());
        ASSERT_FALSE(c.reader.ended());
        ASSERT_EQ(out(), 0U);
        drop_connections();
    }
}

TEST_P(Lease, IsNotLostWhenAReceiveIsCancelled) {
    make_loop(two_buffers);
    connection& c = connect();
    c.reader.then(nullptr);
    std::size_t got = 0;
    constexpr int tries = 300;
    for (int i = 0; i != tries; ++i) {
        begin(c);
        if (i % 3 == 0) {
            loop().poll();
        }
        c.send("xyz");
        if (i % 2 == 0) {
            loop().poll();
        }
        loop().cancel(c.reader.operation());
        ASSERT_TRUE(ends(c.reader));
        ASSERT_TRUE(c.reader.result().ok() || c.reader.error() == std::errc::operation_canceled);
        got += c.reader.count();
        ASSERT_EQ(out(), 0U);
    }
    c.peer.reset();
    for (int i = 0; i != tries && got != 3 * tries; ++i) {
        got += received(c.d).size();
    }
    EXPECT_EQ(got, 3U * tries);
}

TEST_P(Lease, FromAnotherLoopGoesBackToItsOwn) {
    connection& c = connect(tcp_pair);
    c.send("x");
    ASSERT_NO_FATAL_FAILURE(receive_from(c));
    eddy::loop second({.engine = GetParam()});
    second.post([&] { kept.clear(); });
    second.run(run_mode::empty);
    EXPECT_EQ(out(), 0U);
    EXPECT_EQ(second.counters().leases_out, 0U);
}

TEST_P(Lease, WorksInTheChildAfterFork) {
    connection& c = connect();
    c.send("before");
    ASSERT_NO_FATAL_FAILURE(receive_from(c));
    begin(c);
    settle();
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        EXPECT_TRUE(ends(c.reader));
        EXPECT_EQ(c.reader.error(), std::errc::operation_canceled);
        EXPECT_EQ(text_of(kept.at(0)), "before");
        EXPECT_EQ(out(), 1U);
        c.send("in the child");
        EXPECT_EQ(received(c.d), "in the child");
        kept.clear();
        EXPECT_EQ(out(), 0U);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(ended, 0);
    c.send("after");
    ASSERT_TRUE(ends(c.reader));
    EXPECT_EQ(text_of(kept.at(1)), "after");
}

}  // namespace
}  // namespace eddy::test::lease_test
