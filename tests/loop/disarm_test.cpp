// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <thread>

namespace eddy::test::disarm_test {
namespace {

/// loop::disarm(entry&): taken back at once, without a callback.
class DisarmEntry : public LoopTest {
protected:
    void expect_taken_back(job& e) {
        EXPECT_TRUE(loop().disarm(e));
        EXPECT_FALSE(e.posted());
        EXPECT_FALSE(loop().disarm(e)) << "it is not posted any more";
        settle();
        EXPECT_EQ(e.runs + e.cancels, 0);
        EXPECT_TRUE(loop().empty()) << "it must not keep the loop alive";
    }
};
EDDY_ON_EVERY_ENGINE(DisarmEntry);

TEST_P(DisarmEntry, DoesNothingToAnIdleOne) {
    job e;
    EXPECT_FALSE(loop().disarm(e));
    loop().post(e);
    settle();
    EXPECT_EQ(e.runs, 1);
    EXPECT_FALSE(loop().disarm(e)) << "it has run";
}

TEST_P(DisarmEntry, TakesBackWhatWasPostedWhileTheLoopDidNotRun) {
    job e;
    loop().post(e);
    expect_taken_back(e);
}

TEST_P(DisarmEntry, TakesBackWhatWasPostedOnTheThread) {
    job e;
    bool taken = false;
    loop().post([&] {
        loop().post(e);
        taken = loop().disarm(e);
    });
    settle();
    EXPECT_TRUE(taken);
    EXPECT_EQ(e.runs + e.cancels, 0);
    EXPECT_TRUE(loop().empty());
}

TEST_P(DisarmEntry, TakesBackWhatAnotherThreadPosted) {
    job e;
    std::thread([&] { loop().post(e); }).join();
    expect_taken_back(e);
}

TEST_P(DisarmEntry, TakesBackWhatAnotherThreadPostedWhileTheLoopRuns) {
    job e;
    bool taken = false;
    loop().post([&] {
        std::thread([&] { loop().post(e); }).join();
        taken = loop().disarm(e);
    });
    settle();
    EXPECT_TRUE(taken);
    EXPECT_EQ(e.runs + e.cancels, 0);
}

TEST_P(DisarmEntry, TakesBackWhatWaitsForTheNextLookAtTheKernel) {
    job here;
    job elsewhere;
    bool taken = false;
    loop().post([&] {
        loop().post_next(here);
        std::thread([&] { loop().post_next(elsewhere); }).join();
        taken = loop().disarm(here) && loop().disarm(elsewhere);
    });
    settle();
    EXPECT_TRUE(taken);
    EXPECT_EQ(here.runs + here.cancels + elsewhere.runs + elsewhere.cancels, 0);
    EXPECT_TRUE(loop().empty());
}

TEST_P(DisarmEntry, TakesBackACancelledOneBeforeItIsTold) {
    job e;
    loop().post(e);
    loop().cancel(e);
    expect_taken_back(e);
}

TEST_P(DisarmEntry, LeavesTheOthersInTheirOrder) {
    std::string order;
    job a([&] { order += 'a'; });
    job b([&] { order += 'b'; });
    job c([&] { order += 'c'; });
    loop().post([&] {
        loop().post(a);
        loop().post(b);
        loop().post(c);
        loop().disarm(b);
    });
    settle();
    EXPECT_EQ(order, "ac");
    loop().post(b);
    settle();
    EXPECT_EQ(order, "acb") << "it can be posted again";
}

TEST_P(DisarmEntry, LetsItBeDestroyedFromTheCallbackBeforeIt) {
    auto second = std::make_unique<job>();
    job first([&] {
        loop().disarm(*second);
        second.reset();
    });
    loop().post(first);
    loop().post(*second);
    settle();
    EXPECT_EQ(first.runs, 1);
    EXPECT_EQ(second, nullptr);
}

/// Both end with operation_canceled; was_canceled() tells one from the other.
class EndReason : public EngineTest {
protected:
    static constexpr std::errc canceled = std::errc::operation_canceled;
    std::string buffer = std::string(8, '\0');
};
EDDY_ON_EVERY_ENGINE(EndReason);

TEST_P(EndReason, IsCanceledForTheUsersCancel) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), canceled);
    EXPECT_TRUE(r.operation().was_canceled());
}

TEST_P(EndReason, IsClosedIfTheDescriptorWas) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    socket.close();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), canceled);
    EXPECT_FALSE(r.operation().was_canceled());
}

TEST_P(EndReason, IsClosedIfTheCancelCameAfterTheClose) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    socket.close();
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), canceled);
    EXPECT_FALSE(r.operation().was_canceled());
}

TEST_P(EndReason, IsNotCanceledIfThereIsAResult) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    test::send_all(pair.second.get(), "x");
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    if (r.result()) {
        EXPECT_FALSE(r.operation().was_canceled());
    } else {
        EXPECT_TRUE(r.operation().was_canceled());
        EXPECT_EQ(bytes_waiting(socket.native_handle()), 1U) << "the byte is where it was";
    }
}

TEST_P(EndReason, IsForgottenAtTheNextStart) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    test::send_all(pair.second.get(), "x");
    start(r, recv(socket, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 1U);
    EXPECT_FALSE(r.operation().was_canceled());
}

TEST_P(EndReason, IsCanceledIfTheLoopIsDrained) {
    fd_pair pair = unix_stream_pair();
    descriptor socket = attach(std::move(pair.first));
    recorder r;
    start(r, recv(socket, bytes(buffer)));
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    ASSERT_TRUE(r.ended());
    EXPECT_TRUE(r.operation().was_canceled());
}

}  // namespace
}  // namespace eddy::test::disarm_test
