// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "async/task_fixture.hpp"

#include <eddy/async/task.hpp>
#include <eddy/ex/when_all.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/in_turn.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/watch/fd_watch.hpp>

#include <memory>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::in_turn_test {
namespace {

/// What both have moved, and when it is enough.
struct tally {
    std::size_t bytes[2] = {0, 0};
    std::size_t enough = 4'000'000;

    void moved(std::size_t which, std::size_t count) { bytes[which] += count; }
    bool over() const { return bytes[0] + bytes[1] >= enough; }
    double percent() const {
        return 100.0 * static_cast<double>(bytes[0]) / static_cast<double>(bytes[0] + bytes[1]);
    }
};

class InTurn : public TaskTest {
protected:
    using ends = std::pair<local::stream, local::stream>;

    /// Puts more into a stream than one piece; without waiting.
    static void refill(const local::stream& writer) {
        static const std::string chunk(4096, 'x');
        static_cast<void>(
            !::send(writer.native_handle(), chunk.data(), chunk.size(), MSG_DONTWAIT));
    }
    static void drain(const local::stream& reader) {
        char buffer[8192];
        while (::recv(reader.native_handle(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) {}
    }

    /// Pieces of different sizes: it is bytes that are shared, not reads.
    static task<> read_on(const ends& stream, std::size_t which, bandwidth_share& share,
                          tally& all) {
        std::byte buffer[1000];
        const auto piece = std::span(buffer).first(which == 0 ? 300 : 1000);
        while (!all.over()) {
            refill(stream.second);
            const std::size_t count = co_await in_turn(stream.first.read_some(piece), share);
            all.moved(which, count);
        }
    }
    static task<> write_on(const ends& stream, std::size_t which, bandwidth_share& share,
                           tally& all) {
        const std::byte buffer[1000]{};
        const auto piece = std::span(buffer).first(which == 0 ? 300 : 1000);
        while (!all.over()) {
            drain(stream.second);
            const std::size_t count = co_await in_turn(stream.first.write_some(piece), share);
            all.moved(which, count);
        }
    }
};
EDDY_ON_EVERY_ENGINE(InTurn);

TEST_P(InTurn, ReadersShareTheBytesByWeight) {
    bandwidth_group group(loop());
    bandwidth_share three(group, 3);
    bandwidth_share one(group, 1);
    const ends first = local::make_pair(loop());
    const ends second = local::make_pair(loop());
    tally all;
    loop().run(ex::when_all(read_on(first, 0, three, all), read_on(second, 1, one, all)));
    EXPECT_NEAR(all.percent(), 75.0, 2.0);
    EXPECT_EQ(three.bytes_moved(), all.bytes[0]);
    EXPECT_EQ(one.bytes_moved(), all.bytes[1]);
}

TEST_P(InTurn, WritersShareTheBytesByWeight) {
    bandwidth_group group(loop());
    bandwidth_share one(group, 1);
    bandwidth_share four(group, 4);
    const ends first = local::make_pair(loop());
    const ends second = local::make_pair(loop());
    tally all;
    loop().run(ex::when_all(write_on(first, 0, one, all), write_on(second, 1, four, all)));
    EXPECT_NEAR(all.percent(), 20.0, 2.0);
}

/// Reads from a stream that never runs dry.
struct reading_watch : fd_watch {
    reading_watch(const local::stream& from, const local::stream& filled, tally& t)
        : fd_watch(from.get_descriptor(), interest::readable, &on_ready), peer(filled), all(t) {}

    static reaction on_ready(fd_watch& w) noexcept {
        auto& self = static_cast<reading_watch&>(w);
        char buffer[700];
        const ssize_t n = ::read(self.native_handle(), buffer, sizeof buffer);
        EXPECT_GT(n, 0);
        self.moved(static_cast<std::size_t>(n));
        self.all.moved(0, static_cast<std::size_t>(n));
        const std::string chunk(4096, 'x');
        static_cast<void>(
            !::send(self.peer.native_handle(), chunk.data(), chunk.size(), MSG_DONTWAIT));
        return reaction::again;
    }

    const local::stream& peer;
    tally& all;
};

TEST_P(InTurn, AStreamAndAWatchShareTheBytes) {
    bandwidth_group group(loop());
    bandwidth_share share(group);
    const ends watched = local::make_pair(loop());
    const ends read = local::make_pair(loop());
    tally all;
    refill(watched.second);
    reading_watch watch(watched.first, watched.second, all);
    group.add(watch);
    loop().run(read_on(read, 1, share, all));
    EXPECT_NEAR(all.percent(), 50.0, 2.0);
}

TEST_P(InTurn, WhoHasNothingToReadHoldsUpNobody) {
    bandwidth_group group(loop());
    bandwidth_share idle(group, 100);
    bandwidth_share busy(group, 1);
    const ends quiet = local::make_pair(loop());
    const ends loud = local::make_pair(loop());
    char nothing[16];
    running waits(in_turn(quiet.first.read_some(eddy::bytes(nothing)), idle));
    tally all;
    loop().run(
        ex::when_all(ex::just() | ex::then([&] { waits.start(); }), read_on(loud, 1, busy, all)));
    EXPECT_EQ(all.bytes[0], 0U);
    EXPECT_FALSE(waits.ended());
    waits.stop();
    ASSERT_TRUE(until([&] { return waits.ended(); }));
    EXPECT_EQ(waits.how(), ending::stopped);
}

TEST_P(InTurn, WhoWaitsForItsTurnCanBeStoppedOrDestroyed) {
    bandwidth_group group(loop());
    bandwidth_share share(group);
    const ends stream = local::make_pair(loop());
    refill(stream.second);
    char buffers[4][8];
    const auto read = [&](int i) {
        return in_turn(stream.first.read_some(eddy::bytes(buffers[i])), share);
    };
    running first(read(0));
    running stopped(read(1));
    auto destroyed = std::make_unique<running<decltype(read(2))>>(read(2));
    running last(read(3));
    loop().post([&] {
        first.start();
        stopped.start();
        destroyed->start();
        last.start();
        EXPECT_FALSE(first.ended()) << "never from inside";
        stopped.stop();
        destroyed.reset();
    });
    ASSERT_TRUE(until([&] { return first.ended() && stopped.ended() && last.ended(); }));
    EXPECT_EQ(first.how(), ending::value);
    EXPECT_EQ(stopped.how(), ending::stopped);
    EXPECT_EQ(last.how(), ending::value);
    EXPECT_EQ(share.bytes_moved(), 16U) << "those that were taken back have read nothing";
}

TEST_P(InTurn, ErrorsPassAndCountNothing) {
    bandwidth_group group(loop());
    bandwidth_share share(group);
    const local::stream empty;
    char buffer[8];
    running fails(in_turn(empty.read_some(eddy::bytes(buffer)), share));
    loop().post([&] { fails.start(); });
    ASSERT_TRUE(until([&] { return fails.ended(); }));
    EXPECT_EQ(fails.how(), ending::error);
    EXPECT_EQ(share.bytes_moved(), 0U);
}

TEST_P(InTurn, SharesThatAreGoneLeaveTheOthersEverything) {
    bandwidth_group group(loop());
    const ends stream = local::make_pair(loop());
    bandwidth_share stays(group, 1);
    {
        bandwidth_share goes(group, 1000);
        EXPECT_EQ(group.size(), 2U);
    }
    EXPECT_EQ(group.size(), 1U);
    tally all{.enough = 100'000};
    loop().run(read_on(stream, 1, stays, all));
    EXPECT_GE(stays.bytes_moved(), 100'000U);
}

}  // namespace
}  // namespace eddy::test::in_turn_test
