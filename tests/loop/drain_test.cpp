// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <atomic>
#include <thread>

#include <sys/socket.h>

namespace eddy::test::drain_test {
namespace {

constexpr auto canceled = std::errc::operation_canceled;

class LoopDrain : public LoopTest {
protected:
    std::size_t stop_and_drain() {
        loop().stop();
        return loop().run(run_mode::drained);
    }
};
EDDY_ON_EVERY_ENGINE(LoopDrain);

TEST_P(LoopDrain, RunsUntilItIsStopped) {
    alarm ring(loop(), [&] { loop().stop(); });
    loop().post_after(2ms, ring);
    EXPECT_EQ(loop().run(run_mode::drained), 1U);
}

TEST_P(LoopDrain, ReturnsAtOnceWhenNothingIsPending) {
    EXPECT_EQ(stop_and_drain(), 0U);
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopDrain, RunsTheEntriesThatWerePostedBefore) {
    job a;
    job b;
    loop().post(a);
    loop().post_next(b);
    EXPECT_EQ(stop_and_drain(), 2U);
    EXPECT_EQ(a.runs, 1);
    EXPECT_EQ(b.runs, 1);
}

TEST_P(LoopDrain, CancelsWhatIsPostedWhileDraining) {
    job late;
    job later;
    job early([&] {
        loop().post(late);
        loop().post_next(later);
    });
    loop().post(early);
    EXPECT_EQ(stop_and_drain(), 3U);
    EXPECT_EQ(late.runs + later.runs, 0);
    EXPECT_EQ(late.cancels, 1);
    EXPECT_EQ(later.cancels, 1);
}

TEST_P(LoopDrain, EndsAlthoughAnEntryPostsItselfAgain) {
    job* self = nullptr;
    job again([&] { loop().post(*self); });
    self = &again;
    loop().post(again);
    stop_and_drain();
    EXPECT_EQ(again.runs, 1);
    EXPECT_EQ(again.cancels, 1);
}

TEST_P(LoopDrain, AnotherStopMeanwhileKeepsNothingBack) {
    job first([&] { loop().stop(); });
    job second([&] { loop().stop(); });
    job third;
    for (job* one : {&first, &second, &third}) {
        loop().post(*one);
    }
    EXPECT_EQ(loop().run(run_mode::drained), 3U);
    EXPECT_EQ(second.runs, 1);
    EXPECT_EQ(third.runs, 1);
}

TEST_P(LoopDrain, CancelsTimers) {
    alarm far(loop());
    alarm repeating(loop());
    repeating.set_interval(1h);
    loop().post_after(1h, far);
    loop().post_after(1h, repeating);
    EXPECT_EQ(stop_and_drain(), 2U);
    EXPECT_EQ(far.cancels, 1);
    EXPECT_EQ(repeating.cancels, 1);
    EXPECT_FALSE(far.armed());
}

TEST_P(LoopDrain, CancelsTimersThatAreSetWhileDraining) {
    alarm late(loop());
    job early([&] { loop().post_after(1h, late); });
    loop().post(early);
    stop_and_drain();
    EXPECT_EQ(late.runs, 0);
    EXPECT_EQ(late.cancels, 1);
}

TEST_P(LoopDrain, ADueIntervalTimerRunsAndIsThenCancelled) {
    alarm due(loop());
    due.set_interval(1ms);
    alarm halt(loop(), [&] { loop().stop(); });
    const auto when = clock::now();
    loop().post_at(when, halt);
    loop().post_at(when, due);
    loop().run(run_mode::drained);
    EXPECT_EQ(due.runs, 1);
    EXPECT_EQ(due.cancels, 1);
}

TEST_P(LoopDrain, CancelsAnEndlessAccept) {
    tcp_listener listener;
    const auto port = listener.port();
    descriptor d = attach(listener.take());
    recorder accepting;
    accepting.then([&](recorder& r) {
        if (r.result()) {
            unique_fd(r.result().fd()).reset();
            loop().stop();
        }
    });
    start(accepting, accept_multishot(d));
    const unique_fd client = tcp_connect(port);
    loop().run(run_mode::drained);
    EXPECT_EQ(accepting.endings(), 1U);
    EXPECT_EQ(accepting.error(), canceled);
}

TEST_P(LoopDrain, CancelsReadsAndReadinessWaitsWithoutADeadline) {
    auto [near, peer] = unix_stream_pair();
    auto [reader, writer] = make_pipe();
    descriptor socket = attach(std::move(near));
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    std::string other(8, '\0');
    recorder receiving;
    recorder reading;
    recorder waiting;
    recorder watching;
    start(receiving, recv(socket, bytes(buffer)));
    start(reading, read(from, bytes(other)));
    start(waiting, wait(socket, interest::readable));
    start(watching, wait_multishot(socket, interest::readable));
    loop().poll();
    EXPECT_EQ(stop_and_drain(), 4U);
    for (const recorder* r : {&receiving, &reading, &waiting, &watching}) {
        EXPECT_EQ(r->endings(), 1U);
        EXPECT_EQ(r->error(), canceled);
    }
}

TEST_P(LoopDrain, WaitsForAWrite) {
    auto [near, peer] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    const std::string much(64 * 1024, 'x');
    recorder filling;
    while (true) {  // until a send is pending
        start(filling, send(socket, bytes(much)));
        if (!loop().run_for(2ms)) {
            break;
        }
    }
    std::atomic<bool> reading = false;
    std::thread reader([&, fd = peer.get()] {
        while (!reading) {
            std::this_thread::yield();
        }
        std::string buffer(1024 * 1024, '\0');
        EXPECT_GT(::recv(fd, buffer.data(), buffer.size(), 0), 0);
    });
    job begun([&] { reading = true; });
    loop().post(begun);
    stop_and_drain();
    EXPECT_TRUE(filling.ended());
    EXPECT_TRUE(filling.result().ok());
    reader.join();
}

TEST_P(LoopDrain, WaitsForWhatHasADeadline) {
    auto [near, peer] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder receiving;
    start(receiving, recv(socket, bytes(buffer)), clock::now() + 5ms);
    EXPECT_EQ(stop_and_drain(), 1U);
    EXPECT_EQ(receiving.error(), errc::timed_out);
}

TEST_P(LoopDrain, WaitsForWhatIsStartedWithADeadlineWhileDraining) {
    auto [near, peer] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder receiving;
    job early([&] { start(receiving, recv(socket, bytes(buffer)), clock::now() + 5ms); });
    loop().post(early);
    EXPECT_EQ(stop_and_drain(), 2U);
    EXPECT_EQ(receiving.error(), errc::timed_out);
}

TEST_P(LoopDrain, CancelsReadsThatAreStartedWhileDraining) {
    auto [near, peer] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder receiving;
    recorder sending;
    job early([&] {
        start(receiving, recv(socket, bytes(buffer)));
        start(sending, send(socket, bytes("bye")));
    });
    loop().post(early);
    EXPECT_EQ(stop_and_drain(), 3U);
    EXPECT_EQ(receiving.error(), canceled);
    EXPECT_EQ(sending.count(), 3U);
    EXPECT_EQ(recv_exactly(peer.get(), 3), "bye");
}

TEST_P(LoopDrain, WaitsForFiles) {
    const scratch_directory scratch;
    descriptor file = attach(scratch.file("f", "hello"));
    std::string buffer(5, '\0');
    recorder reading;
    recorder syncing;
    start(reading, read(file, bytes(buffer), 0));
    start(syncing, fsync(file));
    EXPECT_EQ(stop_and_drain(), 2U);
    EXPECT_EQ(buffer, "hello");
    EXPECT_TRUE(syncing.result().ok());
}

TEST_P(LoopDrain, LeavesNothingPendingNotEvenInTheBackground) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder reading;
    reading.operation().set_background(true);
    start(reading, read(from, bytes(buffer)));
    loop().poll();
    stop_and_drain();
    EXPECT_FALSE(reading.operation().pending());
    EXPECT_EQ(reading.error(), canceled);
}

TEST_P(LoopDrain, CancelsSystemClockTimersAndServesNewOnesAfterwards) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    loop().post_at(std::chrono::system_clock::now() + 1h, ring);
    stop_and_drain();
    EXPECT_EQ(ring.cancels, 1);
    loop().post_at(std::chrono::system_clock::now() + 1ms, ring);
    EXPECT_TRUE(until([&] { return ring.runs == 1; }));
}

TEST_P(LoopDrain, TheLoopIsAsBeforeAfterwards) {
    job work;
    alarm ring(loop());
    stop_and_drain();
    loop().post(work);
    loop().post_after(1ms, ring);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(work.runs, 1);
    EXPECT_EQ(ring.runs, 1);
}

TEST_P(LoopDrain, ATimeLimitEndsItWithoutSpinning) {
    auto [near, peer] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder receiving;
    start(receiving, recv(socket, bytes(buffer)), clock::now() + 1h);
    loop().stop();
    const auto turns = loop().counters().turns;
    EXPECT_EQ(loop().run(run_mode::drained, {.until = clock::now() + 5ms}), 0U);
    EXPECT_LT(loop().counters().turns - turns, 20U);
    loop().cancel(receiving.operation());
    ends(receiving);
}

TEST_P(LoopDrain, AnotherThreadsPostsWhileDrainingAreRunOrCancelled) {
    std::atomic<int> runs = 0;
    std::atomic<int> cancels = 0;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 1000; ++i) {
        jobs.push_back(std::make_unique<job>([&] { ++runs; }, [&] { ++cancels; }));
    }
    std::thread other([&] {
        for (auto& one : jobs) {
            loop().post(*one);
        }
    });
    stop_and_drain();
    other.join();
    loop().run(run_mode::empty);
    EXPECT_EQ(runs + cancels, 1000);
}

class LoopBackground : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopBackground);

TEST_P(LoopBackground, AnOperationInTheBackgroundDoesNotKeepTheLoopGoing) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder reading;
    reading.operation().set_background(true);
    start(reading, read(from, bytes(buffer)));
    EXPECT_TRUE(loop().empty());
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    EXPECT_EQ(loop().run_one(), 0U);
    EXPECT_EQ(loop().run_some(), 0U);
    EXPECT_TRUE(reading.operation().pending());
    write_all(writer.get(), "x");
    EXPECT_TRUE(ends(reading));
    EXPECT_EQ(reading.count(), 1U);
}

}  // namespace
}  // namespace eddy::test::drain_test
