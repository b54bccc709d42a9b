// SPDX-License-Identifier: Apache-2.0
// Operations that are taken back while the kernel refuses to wait: whoever does so is not kept, and
// nobody else is hurt.
#include "loop/wait_failure_fixture.hpp"

#include <eddy/watch/fd_watch.hpp>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

namespace eddy::test::abandon_failure_test {
namespace {

class AbandonInTrouble : public WaitFailureTest {
protected:
    /// How many calls `body` makes at most if it does not try again and again.
    static constexpr std::uint64_t few = 10;
    template <class Body>
    std::uint64_t calls_of(Body body) {
        const std::uint64_t before = loop().counters().syscalls;
        body();
        return loop().counters().syscalls - before;
    }
};
EDDY_ON_EVERY_ENGINE(AbandonInTrouble);

/// What one connection takes back is no business of another.
TEST_P(AbandonInTrouble, NeitherWaitsNorEndsOthers) {
    for (const int error : {ENOMEM, EFAULT}) {
        auto [ours, theirs] = make_pipe();
        descriptor end = attach(std::move(ours));
        auto [mine, yours] = tcp_pair();
        descriptor other = attach(std::move(mine));
        std::byte buffer[8];
        std::byte other_buffer[8];
        recorder staying;
        start(staying, recv(other, other_buffer));
        auto leaving = std::make_unique<recorder>();
        start(*leaving, read(end, buffer));
        loop().poll();
        while_waits_fail(error, [&] {
            EXPECT_LE(calls_of([&] { loop().abandon(leaving->operation()); }), few);
        });
        EXPECT_FALSE(staying.ended());
        send_all(yours.get(), "hi");
        EXPECT_TRUE(ends(staying));
        EXPECT_EQ(staying.count(), 2U) << staying.error();
        // The same memory again, and nothing of what comes goes to the one that has left.
        start(*leaving, read(end, buffer));
        write_all(theirs.get(), "hello");
        EXPECT_TRUE(ends(*leaving));
        EXPECT_EQ(leaving->count(), 5U) << leaving->error();
    }
}

TEST_P(AbandonInTrouble, OfWhatWasStartedInItLeavesNothingBehind) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    while_waits_fail(ENOMEM, [&] {
        start(reading, read(end, buffer));
        EXPECT_LE(calls_of([&] { loop().abandon(reading.operation()); }), few);
    });
    write_all(theirs.get(), "hello");
    loop().poll();
    start(reading, read(end, buffer));
    EXPECT_TRUE(ends(reading));
    EXPECT_EQ(reading.count(), 5U) << reading.error();
}

/// What is still to come of it belongs to the thread, which is gone.
TEST_P(AbandonInTrouble, LetsAnotherThreadRunTheLoop) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    std::thread([&] {
        start(reading, read(end, buffer));
        loop().poll();
        refuse_waits(ENOMEM);
        loop().abandon(reading.operation());
    }).join();
    kernel::fail_nothing();
    start(reading, read(end, buffer));
    write_all(theirs.get(), "hello");
    EXPECT_TRUE(ends(reading));
    EXPECT_EQ(reading.count(), 5U) << reading.error();
}

TEST_P(AbandonInTrouble, OfAWatchDoesNotEndTheServer) {
    auto [ours, theirs] = make_pipe();
    auto [mine, yours] = tcp_pair();
    fd_watch staying(loop(), std::move(mine), interest::readable,
                     [](fd_watch&) noexcept { return reaction::disarm; });
    auto leaving = std::make_unique<fd_watch>(loop(), ours.get(), interest::readable,
                                              [](fd_watch&) noexcept { return reaction::disarm; });
    loop().poll();
    while_waits_fail(ENOMEM, [&] { EXPECT_LE(calls_of([&] { leaving.reset(); }), few); });
    EXPECT_TRUE(staying.armed());
    send_all(yours.get(), "x");
    EXPECT_TRUE(until([&] { return !staying.armed(); }));
}

TEST_P(AbandonInTrouble, OfADescriptorThatGoesBackEndsOnlyIts) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    auto [mine, yours] = tcp_pair();
    descriptor other = attach(std::move(mine));
    std::byte buffer[8];
    std::byte other_buffer[8];
    recorder leaving;
    recorder staying;
    start(leaving, read(end, buffer));
    start(staying, recv(other, other_buffer));
    loop().poll();
    unique_fd back;
    while_waits_fail(ENOMEM,
                     [&] { EXPECT_LE(calls_of([&] { EXPECT_FALSE(end.release(back)); }), few); });
    EXPECT_TRUE(ends(leaving));
    EXPECT_EQ(leaving.error(), std::errc::operation_canceled);
    EXPECT_FALSE(staying.ended());
    descriptor again = attach(std::move(back));
    start(leaving, read(again, buffer));
    write_all(theirs.get(), "x");
    EXPECT_TRUE(ends(leaving));
    EXPECT_EQ(leaving.count(), 1U) << leaving.error();
    send_all(yours.get(), "hi");
    EXPECT_TRUE(ends(staying));
}

/// With more requests than a ring takes at once, completions are there that nobody has looked at.
TEST_P(AbandonInTrouble, LosesNoDescriptorThatWasAcceptedMeanwhile) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    descriptor end = attach(listener.take());
    auto [ours, theirs] = make_pipe();
    descriptor quiet = attach(std::move(ours));
    recorder accepting;
    start(accepting, accept(end));
    loop().poll();
    const unique_fd client = tcp_connect(port);
    std::vector<std::unique_ptr<recorder>> waiting;
    for (int i = 0; i != 600; ++i) {
        waiting.push_back(std::make_unique<recorder>());
        start(*waiting.back(), wait(quiet, interest::readable));
    }
    refuse_waits(EFAULT);
    loop().abandon(waiting[0]->operation());
    EXPECT_EQ(error_of_run().code(), std::errc::bad_address);
    ASSERT_TRUE(accepting.ended());
    unique_fd accepted;
    if (accepting.result()) {
        accepted.reset(accepting.result().fd());
    }
    kernel::fail_nothing();
}

TEST_P(AbandonInTrouble, ThatPassesIsDone) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    start(reading, read(end, buffer));
    loop().poll();
    refuse_waits(ENOMEM, 2);
    loop().abandon(reading.operation());
    kernel::fail_nothing();
    EXPECT_TRUE(loop().empty());
    recorder again;
    start(again, read(end, buffer));
    ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
    EXPECT_TRUE(ends(again));
}

TEST_P(AbandonInTrouble, ThatStaysIsDone) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    start(reading, read(end, buffer));
    loop().poll();
    refuse_waits(EFAULT);
    loop().abandon(reading.operation());
    EXPECT_TRUE(loop().empty());
    kernel::fail_nothing();
    recorder again;
    start(again, read(end, buffer));
    ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
    EXPECT_TRUE(ends(again));
}

TEST_P(AbandonInTrouble, ThatStaysKeepsNoDescriptorFromBeingReleased) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    start(reading, read(end, buffer));
    loop().poll();
    refuse_waits(EFAULT);
    unique_fd back;
    EXPECT_FALSE(end.release(back));
    EXPECT_TRUE(back);
    kernel::fail_nothing();
    EXPECT_TRUE(ends(reading));
    EXPECT_EQ(reading.result().error(), std::errc::operation_canceled);
}

}  // namespace
}  // namespace eddy::test::abandon_failure_test
