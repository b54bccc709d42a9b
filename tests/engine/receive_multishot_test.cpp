// SPDX-License-Identifier: Apache-2.0
// Receives that go on by themselves.
#include "engine/lease_fixture.hpp"
#include "support/in_child.hpp"
#include "support/passed_fd.hpp"

#include <eddy/loop/lease_operation.hpp>

#include <functional>
#include <numeric>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

namespace eddy::test::receive_multishot_test {
namespace {

/// One operation on each connection; what it brings is appended to `text`, and started anew where
/// it ends with bytes.
class MultishotReceive : public LeaseTest {
protected:
    struct reading {
        std::string text;
        std::size_t results = 0;
    };

    void receive_on(connection& c, reading& r, bool keep = false) {
        c.reader.then([this, &c, &r, keep](recorder& self) {
            lease l = loop().take_lease(self.operation());
            EXPECT_EQ(l.size(), self.count());
            r.text += text_of(l);
            ++r.results;
            if (keep && !l.empty()) {
                kept.push_back(std::move(l));
            }
            if (!self.operation().more() && self.count() != 0) {
                restart_.push_back(&c);
            }
        });
        start(c.reader, receive_multishot(c.d));
    }
    bool has(const reading& r, std::string_view text) {
        return until([&] {
            restart_ended();
            return r.text == text;
        });
    }
    void restart_ended() {
        for (connection* c : std::exchange(restart_, {})) {
            if (!c->reader.operation().pending()) {
                start(c->reader, receive_multishot(c->d));
            }
        }
    }
    bool is_over(connection& c) {
        return until([&] { return !c.reader.operation().pending(); });
    }

private:
    std::vector<connection*> restart_;
};
EDDY_ON_EVERY_ENGINE(MultishotReceive);

/// What takes an operation back may look at the kernel.
TEST_P(MultishotReceive, LosesNothingThatComesBeforeItsCompletionHasTakenTheBuffer) {
    fd_pair pair = tcp_pair();
    fd_pair other = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const descriptor quiet = attach(std::move(other.first));
    struct receiver : lease_operation {
        receiver() : lease_operation(&on_received) {}
        static void on_received(io_operation& op) noexcept {
            auto& self = static_cast<receiver&>(op);
            if (self.before_taking) {
                std::exchange(self.before_taking, nullptr)();
            }
            const lease l = self.take_lease();
            EXPECT_EQ(l.size(), op.result().count());
            self.text += text_of(l);
        }
        std::function<void()> before_taking;
        std::string text;
    };
    recorder waits;
    std::string unused(8, '\0');
    start(waits, recv(quiet, bytes(unused)));
    receiver r;
    r.before_taking = [&] {
        test::send_all(pair.second.get(), "second");
        loop().abandon(waits.operation());
    };
    loop().start(r, receive_multishot(d));
    settle();
    test::send_all(pair.second.get(), "first");
    EXPECT_TRUE(until([&] { return r.text == "firstsecond"; })) << r.text;
    EXPECT_TRUE(r.pending());
    EXPECT_EQ(loop().counters().leases_out, 0U);
    pair.second.reset();
    EXPECT_TRUE(until([&] { return !r.pending(); }));
}

/// More than the kernel brings in one go.
TEST_P(MultishotReceive, BringsMuchAtOnce) {
    make_loop({.lease_size = 256});
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        connection& c = connect(make);
        reading r;
        const std::string much = pattern(16000);
        c.send(much);
        receive_on(c, r);
        EXPECT_TRUE(has(r, much));
        drop_connections();
    }
}

TEST_P(MultishotReceive, NeedsNoKernelThatKnowsALimit) {
    kernel::fail(kernel::call::uring_receive_limit, EINVAL, 0, 1000);
    make_loop({.lease_size = 256});
    connection& c = connect();
    reading r;
    receive_on(c, r);
    settle();
    const std::string much = pattern(16000);
    c.send(much);
    EXPECT_TRUE(has(r, much));
}

TEST_P(MultishotReceive, BringsWhateverComes) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, unix_packet_pair, make_pipe}) {
        connection& c = connect(make);
        reading r;
        receive_on(c, r);
        std::string all;
        for (int i = 0; i != 100; ++i) {
            const std::string piece = std::to_string(i) + ' ';
            c.send(piece);
            all += piece;
            if (i % 3 == 0) {
                ASSERT_TRUE(has(r, all));
            }
        }
        ASSERT_TRUE(has(r, all));
        EXPECT_EQ(out(), 0U);
        drop_connections();
    }
}

TEST_P(MultishotReceive, WorksOnAnFdThatWasNonBlockingBefore) {
    connection& c = connect([] {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), true);
        return pair;
    });
    reading r;
    receive_on(c, r);
    settle();
    std::string all;
    for (const char* const piece : {"one ", "two ", "three "}) {
        c.send(piece);
        ASSERT_TRUE(has(r, all += piece));
    }
}

TEST_P(MultishotReceive, EndsWithTheStream) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        connection& c = connect(make);
        reading r;
        receive_on(c, r);
        c.send("last");
        c.peer.reset();
        ASSERT_TRUE(has(r, "last"));
        ASSERT_TRUE(is_over(c));
        EXPECT_EQ(c.reader.result(), io_result::value(0)) << c.reader.error();
        EXPECT_EQ(out(), 0U);
    }
}

TEST_P(MultishotReceive, EndsWithAnError) {
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    settle();
    reset_on_close(c.peer.get());
    c.peer.reset();
    ASSERT_TRUE(is_over(c));
    EXPECT_EQ(c.reader.error(), std::errc::connection_reset);
}

TEST_P(MultishotReceive, BringsAllThatIsThereBeforeTheEnd) {
    make_loop({.lease_size = 1024});
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    settle();
    const std::string text = pattern(100'000);
    c.send(text);
    c.peer.reset();
    ASSERT_TRUE(has(r, text));
    ASSERT_TRUE(is_over(c));
    EXPECT_EQ(c.reader.result(), io_result::value(0));
    EXPECT_GE(r.results, 98U);
}

using ending = void (*)(unique_fd&);
void finish(unique_fd& peer) { ASSERT_EQ(::shutdown(peer.get(), SHUT_WR), 0); }
void leave(unique_fd& peer) { peer.reset(); }
void break_off(unique_fd& peer) {
    reset_on_close(peer.get());
    peer.reset();
}

/// The kernel stops looking after so many buffers in a row, and does not always go on.
TEST_P(MultishotReceive, TellsOfTheEndBehindABurst) {
    make_loop({.lease_size = 64, .lease_count = 1024});
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        for (const std::size_t buffers : {1U, 31U, 32U, 33U, 34U, 66U, 300U}) {
            for (const ending end : {finish, leave, break_off}) {
                for (const bool armed : {true, false}) {
                    connection& c = connect(make);
                    reading r;
                    if (armed) {
                        receive_on(c, r);
                        settle();
                    }
                    c.send(pattern(buffers * 64));
                    end(c.peer);
                    if (!armed) {
                        receive_on(c, r);
                    }
                    ASSERT_TRUE(until([&] {
                        restart_ended();
                        return !c.reader.operation().pending();
                    })) << buffers
                        << " buffers, armed: " << armed;
                    EXPECT_EQ(c.reader.count(), 0U);
                    drop_connections();
                }
            }
        }
    }
}

/// Little in each of them, so that no limit of bytes ends the row.
TEST_P(MultishotReceive, TellsOfTheEndBehindManySmallPieces) {
    const unique_fd any = make_eventfd();
    make_loop({.lease_size = 64, .lease_count = 1024});
    for (const std::size_t pieces : {1U, 31U, 32U, 33U, 34U, 66U, 100U}) {
        for (const bool armed : {true, false}) {
            connection& c = connect(unix_stream_pair);
            reading r;
            if (armed) {
                receive_on(c, r);
                settle();
            }
            for (std::size_t i = 0; i != pieces; ++i) {
                send_with_descriptor(c.peer.get(), "x", any.get());
            }
            c.peer.reset();
            if (!armed) {
                receive_on(c, r);
            }
            ASSERT_TRUE(until([&] {
                restart_ended();
                return !c.reader.operation().pending();
            })) << pieces
                << " pieces, armed: " << armed;
            EXPECT_EQ(c.reader.count(), 0U);
            EXPECT_EQ(r.text.size(), pieces);
            drop_connections();
        }
    }
}

/// Over TCP, but what is left in it the kernel cannot tell.
fd_pair mptcp_pair() {
    const auto make = [] { return unique_fd(::socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP)); };
    const unique_fd listener = make();
    if (!listener || ::listen(listener.get(), 1) != 0) {
        return {};
    }
    sockaddr_in address{};
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::getsockname(listener.get(), place, &size), 0);
    unique_fd client = make();
    EXPECT_EQ(::connect(client.get(), place, size), 0);
    return {unique_fd(::accept(listener.get(), nullptr, nullptr)), std::move(client)};
}

/// What came one by one may count for the kernel, or not.
TEST_P(MultishotReceive, TellsOfTheEndBehindABurstThatComesLate) {
    make_loop({.lease_size = 64, .lease_count = 1024});
    const unique_fd any = make_eventfd();
    const bool has_mptcp = mptcp_pair().first.get() >= 0;
    std::vector<pair_maker> makers{tcp_pair, unix_stream_pair};
    if (has_mptcp) {
        makers.push_back(mptcp_pair);
    }
    RecordProperty("with_mptcp", has_mptcp ? "yes" : "no");
    for (const pair_maker make : makers) {
        for (const std::size_t before : {20U, 31U, 32U, 33U, 34U, 64U, 100U}) {
            for (const std::size_t buffers : {1U, 20U, 33U, 66U}) {
                for (const ending end : {finish, leave, break_off}) {
                    connection& c = connect(make);
                    reading r;
                    receive_on(c, r);
                    settle();
                    const std::string slow = pattern(before);
                    for (std::size_t i = 0; i != before; ++i) {
                        c.send({&slow[i], 1});
                        ASSERT_TRUE(has(r, std::string_view(slow).substr(0, i + 1)));
                    }
                    for (std::size_t i = 0; i != buffers; ++i) {
                        make == unix_stream_pair
                            ? send_with_descriptor(c.peer.get(), "x", any.get())
                            : c.send(pattern(64));
                    }
                    end(c.peer);
                    ASSERT_TRUE(until([&] {
                        restart_ended();
                        return !c.reader.operation().pending();
                    })) << buffers
                        << " buffers after " << before;
                    EXPECT_EQ(c.reader.count(), 0U);
                    if (end != break_off) {  // which may drop what was not read yet
                        const std::size_t each = make == unix_stream_pair ? 1 : 64;
                        EXPECT_EQ(r.text.size(), before + buffers * each);
                        EXPECT_EQ(c.reader.result(), io_result::value(0));
                    }
                    drop_connections();
                }
            }
        }
    }
}

TEST_P(MultishotReceive, GoesOnByItself) {
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    std::string all;
    for (int i = 0; i != 200; ++i) {
        c.send("x");
        ASSERT_TRUE(has(r, all += "x"));
    }
    EXPECT_EQ(r.results, 200U);
    EXPECT_EQ(c.reader.endings(), 0U);
}

TEST_P(MultishotReceive, KeepsItsPlaceInFrontOfLaterReads) {
    make_loop({.lease_size = 64, .lease_count = 4, .lease_max = 4});
    connection& c = connect(unix_packet_pair);
    reading r;
    receive_on(c, r);
    settle();
    recorder later;
    std::string buffer(16, '\0');
    start(later, recv(c.d, bytes(buffer)));
    std::string all;
    for (int i = 0; i != 300; ++i) {
        const std::string piece = std::to_string(i) + ' ';
        c.send(piece);
        all += piece;
        loop().poll();
        ASSERT_FALSE(later.ended()) << "after " << i;
    }
    ASSERT_TRUE(has(r, all));
    EXPECT_FALSE(later.ended());
    loop().cancel(c.reader.operation());
    loop().cancel(later.operation());
    ASSERT_TRUE(is_over(c));
    ASSERT_TRUE(ends(later));
}

TEST_P(MultishotReceive, WaitsForABufferAndGoesOn) {
    make_loop(two_buffers);
    connection& c = connect(unix_packet_pair);
    reading r;
    receive_on(c, r, true);
    std::string all;
    for (int i = 0; i != 20; ++i) {
        const std::string piece = std::to_string(i) + ' ';
        c.send(piece);
        all += piece;
    }
    ASSERT_TRUE(has(r, "0 1 "));
    settle();
    EXPECT_EQ(r.text, "0 1 ");
    EXPECT_TRUE(c.reader.operation().pending());
    ASSERT_TRUE(until([&] {
        kept.clear();
        restart_ended();
        return r.text == all;
    }));
}

TEST_P(MultishotReceive, SharesTheBuffersWithOthers) {
    make_loop(two_buffers);
    std::vector<reading> readings(10);
    for (reading& r : readings) {
        receive_on(connect(tcp_pair), r);
    }
    settle();
    const std::string text = pattern(50'000);
    for (connection& c : connections) {
        c.send(text);
    }
    for (reading& r : readings) {
        ASSERT_TRUE(has(r, text));
    }
    for (connection& c : connections) {
        c.peer.reset();
        ASSERT_TRUE(is_over(c));
    }
}

TEST_P(MultishotReceive, LosesNothingWhenItIsCancelled) {
    make_loop({.lease_count = 4, .lease_max = 4});
    connection& c = connect(tcp_pair);
    reading r;
    std::string all;
    for (int i = 0; i != 300; ++i) {
        receive_on(c, r);
        if (i % 3 == 0) {
            loop().poll();
        }
        const std::string piece = std::to_string(i) + ' ';
        c.send(piece);
        all += piece;
        if (i % 2 == 0) {
            loop().poll();
        }
        loop().cancel(c.reader.operation());
        ASSERT_TRUE(is_over(c));
        ASSERT_TRUE(c.reader.result().ok() || c.reader.operation().was_canceled())
            << c.reader.error();
        ASSERT_EQ(c.reader.endings(), 1U);
        ASSERT_EQ(out(), 0U);
    }
    receive_on(c, r);
    EXPECT_TRUE(has(r, all));
}

TEST_P(MultishotReceive, IsCancelledFromItsCompletion) {
    connection& c = connect(unix_packet_pair);
    c.reader.then([this](recorder& self) {
        if (self.operation().more()) {
            loop().cancel(self.operation());
        }
    });
    for (int i = 0; i != 5; ++i) {
        c.send("x");
    }
    start(c.reader, receive_multishot(c.d));
    ASSERT_TRUE(is_over(c));
    EXPECT_EQ(c.reader.endings(), 1U);
    const auto& results = c.reader.results();
    auto got = std::accumulate(results.begin(), results.end(), std::size_t{0},
                               [](std::size_t sum, io_result one) { return sum + one.count(); });
    EXPECT_GE(got, 1U);
    for (; got < 5; ++got) {
        ASSERT_EQ(received(c.d), "x");
    }
    EXPECT_EQ(out(), 0U);
}

TEST_P(MultishotReceive, IsAbandonedWithWhatItHas) {
    make_loop(two_buffers);
    for (int i = 0; i != 100; ++i) {
        connection& c = connect(i % 2 == 0 ? tcp_pair : unix_packet_pair);
        start(c.reader, receive_multishot(c.d));
        if (i % 3 == 0) {
            loop().poll();
        }
        c.send("x");
        c.send("y");
        loop().abandon(c.reader.operation());
        ASSERT_EQ(out(), kept.size());
        kept.clear();
        drop_connections();
    }
}

TEST_P(MultishotReceive, EndsWhenItsDescriptorIsClosed) {
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    c.send("x");
    ASSERT_TRUE(has(r, "x"));
    c.send("y");
    c.d.close();
    ASSERT_TRUE(is_over(c));
    EXPECT_EQ(c.reader.endings(), 1U);
    EXPECT_EQ(out(), 0U);
}

TEST_P(MultishotReceive, ComesBeforeReadsThatAreStartedLater) {
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    settle();
    recorder later;
    std::string buffer(16, '\0');
    start(later, recv(c.d, bytes(buffer)));
    c.send("first");
    ASSERT_TRUE(has(r, "first"));
    EXPECT_FALSE(later.ended());
    loop().cancel(c.reader.operation());
    ASSERT_TRUE(is_over(c));
    c.send("second");
    ASSERT_TRUE(ends(later));
    EXPECT_EQ(buffer.substr(0, later.count()), "second");
}

TEST_P(MultishotReceive, DeliversAllBeforeALaterReadAlsoWhenItIsCancelled) {
    make_loop({.batch_max = 1});
    connection& c = connect(unix_packet_pair);
    for (const char* const piece : {"a", "b", "c", "d"}) {
        c.send(piece);
    }
    std::string order;
    c.reader.then([&](recorder& self) {
        order += text_of(loop().take_lease(self.operation()));
        if (order == "a") {
            c.send("Z");
            loop().cancel(self.operation());
        }
    });
    std::string buffer(16, '\0');
    recorder later([&](recorder& self) { order += buffer.substr(0, self.count()); });
    start(c.reader, receive_multishot(c.d));
    start(later, recv(c.d, bytes(buffer)));
    ASSERT_TRUE(ends(later));
    ASSERT_TRUE(is_over(c));
    // What had not come when it was cancelled is the later one's.
    EXPECT_TRUE(std::string_view("abcdZ").starts_with(order)) << order;
}

TEST_P(MultishotReceive, EndsInTheChildAfterForkAndGoesOnInTheParent) {
    connection& c = connect(tcp_pair);
    reading r;
    receive_on(c, r);
    c.send("before");
    ASSERT_TRUE(has(r, "before"));
    const int ended = in_child([&] {
        loop().after_fork_in_child();
        EXPECT_TRUE(is_over(c));
        EXPECT_EQ(c.reader.error(), std::errc::operation_canceled);
        EXPECT_EQ(out(), 0U);
        return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(ended, 0);
    c.send(" after");
    EXPECT_TRUE(has(r, "before after"));
}

TEST_P(MultishotReceive, CanHaveADeadline) {
    connection& c = connect(tcp_pair);
    start(c.reader, receive_multishot(c.d), clock::now() + 1ms);
    ASSERT_TRUE(is_over(c));
    EXPECT_EQ(c.reader.error(), errc::timed_out);
}

}  // namespace
}  // namespace eddy::test::receive_multishot_test
