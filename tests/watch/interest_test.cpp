// SPDX-License-Identifier: Apache-2.0
#include "watch/test_watch.hpp"

#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace eddy::test::interest_test {
namespace {

/// What a watch asks for, and what it is told.
class WatchInterest : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WatchInterest);

TEST_P(WatchInterest, DisarmedIsNotCalledForAHangUpAndDoesNotSpin) {
    fd_pair pipe = make_pipe();
    fd_pair error = make_pipe();
    test_watch in(loop(), pipe.first.get(), interest::readable, take_all, {.armed = false});
    test_watch out(loop(), error.second.get(), interest::writable,
                   [](test_watch&) { return reaction::disarm; });
    ASSERT_TRUE(until([&] { return out.calls == 1; }));
    pipe.second.reset();
    error.first.reset();
    EXPECT_LE(turns_in(50ms), 20U);
    EXPECT_EQ(in.calls, 0);
    EXPECT_EQ(out.calls, 1);
}

TEST_P(WatchInterest, IsToldOfAHangUpUnasked) {
    fd_pair pipe = make_pipe();
    interest seen = interest::none;
    test_watch w(loop(), pipe.first.get(), interest::priority, [&](test_watch& self) {
        seen = self.ready();
        return reaction::disarm;
    });
    settle();
    pipe.second.reset();
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_TRUE(any(seen & interest::hangup));
}

TEST_P(WatchInterest, InterestCanBeChangedFromOutsideAndInside) {
    fd_pair pair = unix_stream_pair();
    std::vector<interest> seen;
    test_watch w(loop(), pair.first.get(), interest::readable, [&](test_watch& self) {
        seen.push_back(self.ready());
        if (self.calls == 1) {
            self.set_interest(interest::readable);
            return reaction::rearm;  // has to look, because this is asked for only now
        }
        return reaction::disarm;
    });
    settle();
    ASSERT_EQ(w.calls, 0);
    write_all(pair.second.get(), "x");
    w.disarm();
    w.set_interest(interest::writable);
    w.arm();
    ASSERT_TRUE(until([&] { return w.calls == 2; }));
    EXPECT_EQ(seen, (std::vector{interest::writable, interest::readable}));
}

TEST_P(WatchInterest, TellsOfUrgentData) {
    fd_pair pair = tcp_pair();
    std::vector<interest> seen;
    test_watch w(loop(), pair.first.get(), interest::priority, [&](test_watch& self) {
        seen.push_back(self.ready());
        return reaction::disarm;
    });
    write_all(pair.second.get(), "x");
    ASSERT_TRUE(becomes_ready(pair.first.get(), POLLIN));
    settle();
    EXPECT_EQ(w.calls, 0) << "that was not urgent";
    ASSERT_EQ(::send(pair.second.get(), "u", 1, MSG_OOB), 1);
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_EQ(seen, std::vector{interest::priority});
}

TEST_P(WatchInterest, TellsThatThePeerWillSendNoMore) {
    fd_pair pair = tcp_pair();
    std::vector<interest> seen;
    test_watch w(loop(), pair.first.get(), interest::peer_closed, [&](test_watch& self) {
        seen.push_back(self.ready());
        return reaction::disarm;
    });
    write_all(pair.second.get(), "x");
    ASSERT_TRUE(becomes_ready(pair.first.get(), POLLIN));
    settle();
    EXPECT_EQ(w.calls, 0);
    ASSERT_EQ(::shutdown(pair.second.get(), SHUT_WR), 0);
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_EQ(seen, std::vector{interest::peer_closed});
}

TEST_P(WatchInterest, OfADescriptorThatIsClosedIsToldOnce) {
    fd_pair pair = unix_stream_pair();
    descriptor d = attach(std::move(pair.first), {.nonblocking = true});
    test_watch w(d, interest::readable, [](test_watch& self) {
        EXPECT_EQ(self.ready(), interest::invalid);
        return reaction::rearm;
    });
    settle();
    d.close();
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_LE(turns_in(20ms), 20U);
    w.arm();
    settle();
    EXPECT_EQ(w.calls, 1);
    EXPECT_FALSE(w.armed());
}

/// Nothing comes behind it, and there is no edge that could be generated.
TEST_P(WatchInterest, RearmedAtTheEndOfAStreamIsCalledAgainUntilItIsDisarmed) {
    for (fd_pair (*const made)() : {&make_pipe, &unix_stream_pair, &tcp_pair}) {
        fd_pair pair = made();
        write_all(pair.second.get(), "x");
        pair.second.reset();
        int ends = 0;
        test_watch w(loop(), std::move(pair.first), interest::readable, [&](test_watch& self) {
            ends += drain(self.native_handle()) == 0 ? 1 : 0;
            return ends < 4 ? reaction::rearm : reaction::disarm;
        });
        EXPECT_TRUE(until([&] { return ends == 4; }));
        settle();
        EXPECT_EQ(ends, 4);
    }
}

TEST_P(WatchInterest, RearmedBehindAHalfClosedPeerIsCalledAgainAndCanStillWrite) {
    fd_pair pair = tcp_pair();
    ASSERT_EQ(::shutdown(pair.second.get(), SHUT_WR), 0);
    ASSERT_TRUE(becomes_ready(pair.first.get(), POLLIN));
    test_watch w(loop(), pair.first.get(), interest::readable, [&](test_watch& self) {
        return self.calls < 4 ? reaction::rearm : reaction::disarm;
    });
    EXPECT_TRUE(until([&] { return w.calls == 4; }));
    w.set_interest(interest::writable);
    w.arm();
    EXPECT_TRUE(until([&] { return w.calls == 5; }));
}

}  // namespace
}  // namespace eddy::test::interest_test
