// SPDX-License-Identifier: Apache-2.0
// Waiting for a descriptor to be ready, once and again and again.
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::readiness_test {
namespace {

class Readiness : public EngineTest {
protected:
    static bool says(const recorder& r, interest what) { return any(ready_set(r.result()) & what); }
};
EDDY_ON_EVERY_ENGINE(Readiness);

TEST_P(Readiness, ForReadingComesWithTheData) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        recorder r;
        start(r, wait(d, interest::readable));
        settle();
        ASSERT_FALSE(r.ended());
        write_all(pair.second.get(), "x");
        ASSERT_TRUE(ends(r));
        EXPECT_TRUE(says(r, interest::readable));
        EXPECT_FALSE(says(r, interest::writable));
        EXPECT_EQ(bytes_waiting(d.native_handle()), 1U);
    }
}

TEST_P(Readiness, ThatIsThereAlreadyIsSeenByALateComer) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(becomes_ready(d.native_handle(), 1));
    turns_in(5ms);
    for (int i = 0; i != 3; ++i) {
        recorder r;
        start(r, wait(d, interest::readable));
        ASSERT_TRUE(ends(r));
        EXPECT_TRUE(says(r, interest::readable));
    }
}

TEST_P(Readiness, ForWritingComesWhenThereIsRoom) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.second));
    recorder r;
    start(r, wait(d, interest::writable));
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::writable));
    const std::string much(1U << 20, 'x');
    set_nonblocking(d.native_handle(), true);
    const auto written = ::write(d.native_handle(), much.data(), much.size());
    ASSERT_GT(written, 0);
    start(r, wait(d, interest::writable));
    settle();
    ASSERT_FALSE(r.ended());
    recv_exactly(pipe.first.get(), static_cast<std::size_t>(written));
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::writable));
}

TEST_P(Readiness, ForPriorityComesWithUrgentData) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, wait(d, interest::priority));
    send_all(pair.second.get(), "ordinary");
    ASSERT_TRUE(becomes_ready(d.native_handle(), 1));
    settle();
    ASSERT_FALSE(r.ended());
    ASSERT_EQ(::send(pair.second.get(), "!", 1, MSG_OOB), 1);
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::priority));
    std::string buffer(1, '\0');
    start(r, recv(d, bytes(buffer), MSG_OOB));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(buffer, "!");
}

TEST_P(Readiness, OfAFileIsAlwaysThere) {
    const scratch_directory directory;
    const descriptor d = attach(directory.file("f", "x"));
    recorder r;
    start(r, wait(d, interest::readable | interest::writable));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(ready_set(r.result()), interest::readable | interest::writable);
    recorder stream;
    start(stream, wait_multishot(d, interest::readable));
    ASSERT_TRUE(ends(stream));
    EXPECT_EQ(ready_set(stream.result()), interest::readable);
}

TEST_P(Readiness, OfBothDirectionsGoesToWhoAskedForWhich) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder reader;
    recorder writer;
    start(reader, wait(d, interest::readable));
    start(writer, wait(d, interest::writable));
    ASSERT_TRUE(ends(writer));
    settle();
    EXPECT_FALSE(reader.ended());
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(ends(reader));
    EXPECT_FALSE(says(reader, interest::writable));
}

TEST_P(Readiness, OfOneDescriptorIsToldToAllWhoWait) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder one;
    recorder two;
    start(one, wait(d, interest::readable));
    start(two, wait(d, interest::readable));
    settle();
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(ends(one));
    ASSERT_TRUE(ends(two));
}

TEST_P(Readiness, TogetherWithAReadDoesNotTakeItsData) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder waiter;
    recorder reader;
    start(waiter, wait(d, interest::readable));
    start(reader, recv(d, bytes(buffer)));
    settle();
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(waiter));
    ASSERT_TRUE(ends(reader));
    EXPECT_EQ(reader.count(), 3U);
}

TEST_P(Readiness, InAStreamIsToldAgainWithEachArrival) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        const int fd = d.native_handle();
        std::string got;
        recorder r([&](recorder&) {
            if (bytes_waiting(fd) != 0) {
                got += recv_exactly(fd, bytes_waiting(fd));
            }
        });
        start(r, wait_multishot(d, interest::readable));
        for (const std::string_view text : {"one", "two", "three"}) {
            settle();
            got.clear();
            write_all(pair.second.get(), text);
            ASSERT_TRUE(until([&] { return got == text; }));
            EXPECT_FALSE(r.ended());
        }
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::operation_canceled);
        EXPECT_EQ(r.endings(), 1U);
    }
}

TEST_P(Readiness, InAStreamForPriorityIsNotToldOfOrdinaryBytes) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const int fd = d.native_handle();
    recorder urgent([&](recorder&) {
        char byte = 0;
        if (says(urgent, interest::priority)) {
            EXPECT_EQ(::recv(fd, &byte, 1, MSG_OOB), 1);
        }
    });
    start(urgent, wait_multishot(d, interest::priority));
    for (std::size_t round = 1; round != 4; ++round) {
        settle();
        send_all(pair.second.get(), "ordinary");
        ASSERT_TRUE(becomes_ready(fd, 1));
        settle();
        ASSERT_EQ(urgent.results().size(), round - 1) << "these bytes were not urgent";
        ASSERT_EQ(::send(pair.second.get(), "!", 1, MSG_OOB), 1);
        ASSERT_TRUE(until([&] { return urgent.results().size() == round; }));
        EXPECT_EQ(ready_set(urgent.result()), interest::priority);
        EXPECT_EQ(recv_exactly(fd, 8), "ordinary");
    }
    settle();
    EXPECT_EQ(urgent.results().size(), 3U);
    EXPECT_FALSE(urgent.ended());
    pair.second.reset();
    loop().cancel(urgent.operation());
    ASSERT_TRUE(ends(urgent));
    EXPECT_EQ(urgent.endings(), 1U);
}

TEST_P(Readiness, InAStreamTellsUrgentDataFromOrdinaryBytes) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const int fd = d.native_handle();
    interest told = interest::none;
    recorder both([&](recorder&) {
        char byte = 0;
        told |= ready_set(both.result());
        while (::recv(fd, &byte, 1, MSG_OOB | MSG_DONTWAIT) == 1) {}
        while (::recv(fd, &byte, 1, MSG_DONTWAIT) == 1) {}
    });
    start(both, wait_multishot(d, interest::readable | interest::priority));
    for (int round = 0; round != 3; ++round) {
        settle();
        told = interest::none;
        send_all(pair.second.get(), "x");
        ASSERT_TRUE(until([&] { return any(told); }));
        EXPECT_EQ(told, interest::readable);
        ASSERT_EQ(::send(pair.second.get(), "!", 1, MSG_OOB), 1);
        ASSERT_TRUE(until([&] { return any(told & interest::priority); }));
    }
}

TEST_P(Readiness, InAStreamEndsAtAHangUpAndDoesNotSpin) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    recorder r;
    start(r, wait_multishot(d, interest::readable));
    settle();
    ASSERT_FALSE(r.ended());
    pipe.second.reset();
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::hangup));
    EXPECT_EQ(r.endings(), 1U);
    EXPECT_LE(turns_in(100ms), 20U);
}

TEST_P(Readiness, InAStreamEndsAtAnError) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.second));
    recorder r;
    start(r, wait_multishot(d, interest::priority));
    settle();
    ASSERT_FALSE(r.ended());
    pipe.first.reset();
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::error));
    EXPECT_LE(turns_in(100ms), 20U);
}

TEST_P(Readiness, OfAHangUpIsToldUnasked) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.first));
    pipe.second.reset();
    recorder r;
    start(r, wait(d, interest::priority));
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::hangup));
}

TEST_P(Readiness, OfTheEndOfThePeerIsToldApart) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    recorder r;
    start(r, wait(d, interest::peer_closed));
    send_all(pair.second.get(), "x");
    ASSERT_TRUE(becomes_ready(d.native_handle(), 1));
    settle();
    ASSERT_FALSE(r.ended());
    ::shutdown(pair.second.get(), SHUT_WR);
    ASSERT_TRUE(ends(r));
    EXPECT_TRUE(says(r, interest::peer_closed));
}

TEST_P(Readiness, ThatNobodyWaitsForDoesNotSpin) {
    fd_pair pair = tcp_pair();
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pair.first));
    const descriptor p = attach(std::move(pipe.first));
    send_all(pair.second.get(), "unread");
    pair.second.reset();
    pipe.second.reset();
    EXPECT_LE(turns_in(100ms), 20U);
}

TEST_P(Readiness, ForNothingTellsOfAHangUp) {
    fd_pair pair = make_pipe();
    const descriptor d = attach(std::move(pair.first));
    recorder r([&](recorder&) { loop().stop(); });
    alarm hang_up(loop(), [&] { pair.second.reset(); });
    start(r, wait(d, interest::none));
    loop().post_after(20ms, hang_up);
    loop().run_for(patience);
    ASSERT_TRUE(r.ended());
    EXPECT_TRUE(says(r, interest::hangup)) << r.error();
    EXPECT_EQ(hang_up.runs, 1);
}

}  // namespace
}  // namespace eddy::test::readiness_test
