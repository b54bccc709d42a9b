// SPDX-License-Identifier: Apache-2.0
// The kernel refuses to wait: for a while, or for good.
#include "engine/uring/uring_faults.hpp"
#include "loop/host.hpp"
#include "loop/wait_failure_fixture.hpp"
#include "support/no_more_fds.hpp"

#include <eddy/loop/local_timer.hpp>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

namespace eddy::test::wait_failure_test {
namespace {

class WaitFailure : public WaitFailureTest {};
EDDY_ON_EVERY_ENGINE(WaitFailure);

TEST_P(WaitFailure, ThatPassesIsReportedAndWaitsGoOn) {
    for (const int error : {ENOMEM, EAGAIN, EBUSY}) {
        auto [ours, theirs] = make_pipe();
        descriptor end = attach(std::move(ours));
        std::byte buffer[8];
        recorder reading;
        start(reading, read(end, buffer));
        refuse_waits(error, 3);
        ASSERT_EQ(::write(theirs.get(), "hello", 5), 5);
        EXPECT_TRUE(ends(reading));
        kernel::fail_nothing();
        EXPECT_EQ(reading.result().count(), 5U);
        const std::string words = std::string(call()) + ": " + std::strerror(error);
        EXPECT_EQ(heard.with(words), 1U) << heard.all();
    }
}

TEST_P(WaitFailure, ThatIsAnInterruptionIsNotReported) {
    alarm ring(loop());
    loop().post_after(3ms, ring);
    refuse_waits(EINTR, 3);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(heard.all(), "");
}

TEST_P(WaitFailure, LetsTimersPostsAndStopsThrough) {
    refuse_waits(ENOMEM, for_good);
    alarm ring(loop());
    loop().post_after(20ms, ring);
    loop().run_one();
    EXPECT_EQ(ring.runs, 1);
    bool ran = false;
    std::thread other([&] {
        loop().post([&] { ran = true; });
        loop().stop();
    });
    loop().run();
    other.join();
    loop().poll();
    EXPECT_TRUE(ran);
}

/// The loop has one timer of its own, for both.
TEST_P(WaitFailure, DoesNotLengthenThePauseOfAnAccept) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    descriptor listening = attach(listener.take());
    const unique_fd client = tcp_connect(port);
    recorder accepting;
    refuse_waits(ENOMEM, for_good);
    const auto looks_later = [&] {
        const time_point next = loop().next_deadline();
        return next != never && next > clock::now() + 300ms;
    };
    for (int i = 0; i != 1000 && !looks_later(); ++i) {
        loop().run_for(1ms);
    }
    kernel::fail_nothing();
    ASSERT_TRUE(looks_later());
    {
        const no_more_fds limit;
        start(accepting, accept(listening));
        loop().poll();
        loop().poll();
    }
    EXPECT_LE(loop().next_deadline(), clock::now() + 50ms);
    EXPECT_TRUE(ends(accepting));
    EXPECT_TRUE(accepting.result().ok()) << accepting.error();
    ::close(accepting.result().fd());
}

TEST_P(WaitFailure, EndsARunAtItsTime) {
    refuse_waits(ENOMEM, for_good);
    recorder reading;
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    start(reading, read(end, buffer));
    for (int i = 0; i < 20; ++i) {  // the pauses would add up to more than ten seconds
        const time_point before = clock::now();
        loop().run_for(1ms);
        EXPECT_GE(clock::now() - before, 1ms);
    }
    EXPECT_FALSE(reading.ended());
    kernel::fail_nothing();
    loop().abandon(reading.operation());
}

TEST_P(WaitFailure, NeverMakesPollWait) {
    refuse_waits(ENOMEM, for_good);
    const time_point before = clock::now();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(loop().poll(), 0U);
    }
    // The pauses alone would take longer.
    EXPECT_LT(clock::now() - before, 8s);
    EXPECT_EQ(heard.with("cannot wait"), 1U) << "it is one trouble";
}

TEST(WaitFailureLimit, IsThirtySecondsUnlessAskedOtherwise) {
    EXPECT_EQ(loop_options{}.wait_retry, 30s);
}

TEST_P(WaitFailure, ThatLastsLeavesRunAfterTheLimit) {
    make_loop({.name = "mine", .wait_retry = 20ms});
    alarm ring(loop());
    loop().post_after(1h, ring);
    refuse_waits(ENOMEM, for_good);
    const time_point before = clock::now();
    const std::system_error error = error_of_run();
    EXPECT_GE(clock::now() - before, 20ms);
    EXPECT_EQ(error.code(), std::errc::not_enough_memory);
    EXPECT_NE(std::string(error.what()).find(call()), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("mine"), std::string::npos) << error.what();
    EXPECT_EQ(ring.cancels, 1);
}

TEST_P(WaitFailure, IsNewAfterAWaitThatHasWorked) {
    make_loop({.wait_retry = 20ms});
    for (int i = 0; i < 5; ++i) {
        alarm ring(loop());
        loop().post_after(10ms, ring);
        refuse_waits(ENOMEM, 1);
        EXPECT_EQ(loop().run_one(), 1U) << "the time between failures does not count";
        kernel::fail_nothing();
        loop().poll();
    }
    EXPECT_EQ(heard.with("cannot wait"), 5U);
}

TEST_P(WaitFailure, WithoutALimitLeavesRunAtOnce) {
    make_loop({.wait_retry = duration::zero()});
    refuse_waits(ENOMEM, for_good);
    EXPECT_EQ(error_of_run().code(), std::errc::not_enough_memory);
    EXPECT_EQ(heard.all(), "");
}

TEST_P(WaitFailure, ThatStaysLeavesRunAtOnce) {
    refuse_waits(EFAULT, for_good);
    const std::system_error error = error_of_run();
    EXPECT_EQ(error.code(), std::errc::bad_address);
    EXPECT_NE(std::string(error.what()).find(call()), std::string::npos) << error.what();
}

TEST_P(WaitFailure, ThatStaysEndsEverythingBeforeRunIsLeft) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    {
        recorder reading;
        alarm ring(loop());
        local_timer tick(loop(), [](local_timer&) noexcept {});
        job posted;
        job next;
        start(reading, read(end, buffer));
        loop().poll();  // from here on the kernel has it
        loop().post_after(1h, ring);
        loop().post_after(1h, tick);
        loop().post_next(next);
        loop().post(posted);
        refuse_waits(EFAULT, for_good);
        EXPECT_EQ(error_of_run().code(), std::errc::bad_address);
        EXPECT_TRUE(loop().empty());
        EXPECT_EQ(reading.result().error(), std::errc::operation_canceled);
        EXPECT_EQ(ring.cancels, 1);
        EXPECT_FALSE(tick.armed());
        EXPECT_EQ(posted.runs + posted.cancels, 1);
        EXPECT_EQ(next.runs + next.cancels, 1);
    }
    kernel::fail_nothing();
    recorder again;
    start(again, read(end, buffer));
    ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
    EXPECT_TRUE(ends(again)) << "the loop can be run again";
    EXPECT_EQ(again.result().count(), 1U);
}

/// More requests than a ring has entries, and results that were not delivered yet.
TEST_P(WaitFailure, ThatStaysEndsRequestsOfEveryKind) {
    auto [ours, theirs] = tcp_pair();
    descriptor stream = attach(std::move(ours));
    auto [idle, other] = tcp_pair();
    descriptor quiet = attach(std::move(idle));
    recorder receiving;
    recorder watching;
    start(receiving, receive_multishot(stream));
    start(watching, wait_multishot(quiet, interest::readable));
    loop().poll();
    // Three buffers of data, of which two are there as results when the first is delivered.
    const std::size_t sent = 3 * 4096;
    send_all(theirs.get(), std::string(sent, 'x'));
    EXPECT_EQ(loop().run_one(), 1U);
    std::vector<std::unique_ptr<recorder>> waiting;
    refuse_waits(EFAULT, for_good);
    for (int i = 0; i < 600; ++i) {
        waiting.push_back(std::make_unique<recorder>());
        start(*waiting.back(), wait(quiet, interest::readable));
    }
    recorder closing;
    start(closing, close(quiet));
    EXPECT_EQ(error_of_run().code(), std::errc::bad_address);
    EXPECT_TRUE(loop().empty());
    EXPECT_EQ(receiving.endings(), 1U);
    std::size_t received = 0;
    for (const io_result result : receiving.results()) {
        received += result.count();
    }
    EXPECT_EQ(watching.endings(), 1U);
    EXPECT_EQ(closing.endings(), 1U);
    for (const auto& one : waiting) {
        EXPECT_EQ(one->endings(), 1U);
        if (!on(engine_kind::poll)) {  // which also asks ppoll() whether they are ready
            EXPECT_EQ(one->error(), std::errc::operation_canceled);
        }
    }
    EXPECT_EQ(loop().counters().leases_out, 0U);
    EXPECT_TRUE(becomes_ready(other.get(), POLLIN)) << "the descriptor was closed";
    kernel::fail_nothing();
    start(receiving, receive_multishot(stream));
    send_all(theirs.get(), "again");
    const auto total = [&] {
        std::size_t sum = received;
        for (const io_result result : receiving.results()) {
            sum += result.count();
        }
        return sum;
    };
    EXPECT_TRUE(until([&] { return total() >= sent + 5; }));
    EXPECT_EQ(total(), sent + 5) << "what was received before the failure counts";
    stream.close();
    EXPECT_TRUE(ends(receiving));
}

TEST_P(WaitFailure, ThatStaysEndsWhatIsStartedMeanwhile) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder second;
    recorder first([&](recorder&) { start(second, read(end, buffer)); });
    start(first, read(end, buffer));
    loop().poll();
    refuse_waits(EFAULT, for_good);
    EXPECT_EQ(error_of_run().code(), std::errc::bad_address);
    EXPECT_TRUE(second.ended());
    EXPECT_EQ(second.result().error(), std::errc::operation_canceled);
}

TEST_P(WaitFailure, ThatStaysDoesNotAbortTheEndOfALoop) {
    auto [ours, theirs] = make_pipe();
    std::byte buffer[8];
    recorder reading;
    {
        descriptor end = attach(std::move(ours));
        start(reading, read(end, buffer));
        loop().poll();
        refuse_waits(EFAULT, for_good);
        end.close();
    }
    end_loop();
    EXPECT_EQ(reading.result().error(), std::errc::operation_canceled);
    ASSERT_EQ(heard.lines().size(), 1U) << heard.all();
    EXPECT_EQ(heard.with(call()), 1U) << heard.all();
    EXPECT_EQ(heard.with(std::strerror(EFAULT)), 1U) << heard.all();
}

TEST_P(WaitFailure, ThatLastsDoesNotAbortTheEndOfALoop) {
    make_loop({.wait_retry = 10ms});
    auto [ours, theirs] = make_pipe();
    std::byte buffer[8];
    recorder reading;
    {
        descriptor end = attach(std::move(ours));
        start(reading, read(end, buffer));
        loop().poll();
        refuse_waits(ENOMEM, for_good);
    }
    end_loop();
    EXPECT_EQ(reading.result().error(), std::errc::operation_canceled);
}

TEST_P(WaitFailure, OnceMoreAfterRunHasThrownDoesNotAbortTheEndOfALoop) {
    auto [ours, theirs] = make_pipe();
    std::byte buffer[8];
    try {
        eddy::loop mine({.engine = GetParam()});
        descriptor end(mine, std::move(ours));
        io_operation bare;  // destroyed before the loop
        mine.start(bare, read(end, buffer));
        mine.poll();
        refuse_waits(EFAULT, for_good);
        mine.run();
        ADD_FAILURE() << "run() has not thrown";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::bad_address);
    }
}

/// Every failed look but the first is behind a pause: a loop that had none would make thousands.
TEST_P(WaitFailure, ThatLastsIsNotTriedAgainWithoutAPause) {
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    start(reading, read(end, buffer));
    loop().poll();
    refuse_waits(ENOMEM);
    EXPECT_LT(turns_in(100ms), 20U);
    kernel::fail_nothing();
    loop().abandon(reading.operation());
}

TEST_P(WaitFailure, ThatHasPassedIsReportedOnce) {
    refuse_waits(ENOMEM, 3);
    loop().run_for(300ms);
    EXPECT_EQ(heard.with("cannot wait"), 1U) << heard.all();
    EXPECT_EQ(heard.with("waits again"), 1U) << heard.all();
    EXPECT_EQ(heard.lines().size(), 2U) << heard.all();
}

/// The time between them is the caller's.
TEST_P(WaitFailure, OfPollsThatAreFarFromEachOtherIsNotOneLongTrouble) {
    make_loop({.wait_retry = 40ms});
    refuse_waits(ENOMEM);
    for (int i = 0; i != 3; ++i) {
        EXPECT_NO_THROW(loop().poll());
        std::this_thread::sleep_for(50ms);
    }
}

TEST_P(WaitFailure, InASpinIsOverWhenTheWaitOfTheSameTurnWorks) {
    make_loop({.spin = 10us, .wait_retry = 40ms});
    int rings = 0;
    alarm ring(loop(), [&] {
        refuse_waits(ENOMEM, 1);
        if (++rings != 4) {
            loop().post_after(50ms, ring);
        }
    });
    refuse_waits(ENOMEM, 1);
    loop().post_after(50ms, ring);
    EXPECT_NO_THROW(loop().run(run_mode::empty));
    EXPECT_EQ(rings, 4);
}

TEST_P(WaitFailure, DoesNotMakeAHostSpin) {
    if (on(engine_kind::poll)) {
        GTEST_SKIP() << "it has no handle";
    }
    embedding inner(loop());
    bare_host host(inner);
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    host.settle();
    ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
    refuse_waits(ENOMEM);
    recorder priority;
    recorder readable;
    start(priority, wait(end, interest::priority));  // the kernel is to be told of that
    host.sleeps = 0;
    const time_point begin = clock::now();
    EXPECT_TRUE(host.until([&] { return clock::now() - begin > 100ms; }));
    EXPECT_LE(host.sleeps, 101U) << "it sleeps for a millisecond at least";
    kernel::fail_nothing();
    start(readable, wait(end, interest::readable));
    EXPECT_TRUE(host.until([&] { return readable.ended(); }));
    loop().abandon(priority.operation());
}

TEST_P(WaitFailure, BeforeTheFirstWaitEndsWhatIsPendingToo) {
    if (!on(engine_kind::io_uring)) {
        GTEST_SKIP() << "only a ring is enabled by its first run";
    }
    auto [ours, theirs] = make_pipe();
    descriptor end = attach(std::move(ours));
    std::byte buffer[8];
    recorder reading;
    start(reading, read(end, buffer));
    alarm ring(loop());
    loop().post_after(1h, ring);
    job posted;
    loop().post(posted);
    kernel::fail(kernel::call::uring_register, EPERM);
    EXPECT_EQ(error_of_run().code(), std::errc::operation_not_permitted);
    EXPECT_EQ(kernel::fired(), 1U);
    kernel::fail_nothing();
    EXPECT_EQ(reading.endings(), 1U);
    EXPECT_EQ(reading.error(), std::errc::operation_canceled);
    EXPECT_EQ(posted.cancels, 1);
    EXPECT_EQ(ring.cancels, 1);
    EXPECT_TRUE(loop().empty());
    recorder again;
    start(again, read(end, buffer));
    ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
    EXPECT_TRUE(ends(again));
}

#if EDDY_HAS_IO_URING
class WakeFailure : public WaitFailureTest {
protected:
    void SetUp() override {
        WaitFailureTest::SetUp();
        if (!IsSkipped() && !uring_faults::can_inject_results()) {
            GTEST_SKIP() << "the kernel cannot be asked for a result";
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Engine, WakeFailure, ::testing::Values(engine_kind::io_uring),
                         engine_name);

/// Other threads wake a ring by a poll of its own. If the kernel refuses that, each wait ends at
/// once.
TEST_P(WakeFailure, IsReportedAndDoesNotSpin) {
    kernel::fail(kernel::call::poll, ENOMEM, 0, for_good);
    alarm ring(loop());
    loop().post_after(50ms, ring);
    const std::uint64_t turns = loop().counters().turns;
    loop().run_one();
    EXPECT_EQ(ring.runs, 1);
    EXPECT_LE(loop().counters().turns - turns, 20U);
    EXPECT_EQ(heard.with(std::string("io_uring_enter: ") + std::strerror(ENOMEM)), 1U)
        << heard.all();
    kernel::fail_nothing();
    std::thread other([&] { loop().stop(); });
    loop().run();
    other.join();
}
#endif

}  // namespace
}  // namespace eddy::test::wait_failure_test
