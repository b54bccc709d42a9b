// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "loop/loop_fixture.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace eddy::test::run_test {
namespace {

class LoopRun : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopRun);

TEST_P(LoopRun, StopBeforeRunEndsTheNextRun) {
    job later;
    loop().stop();
    loop().post(later);
    EXPECT_EQ(loop().run(), 0U);
    EXPECT_EQ(later.runs, 0);
    loop().poll();
    EXPECT_EQ(later.runs, 1);
}

TEST_P(LoopRun, StopBeforeRunIsTakenBackByThatRun) {
    loop().stop();
    loop().stop();
    EXPECT_EQ(loop().run(), 0U);
    job last([&] { loop().stop(); });
    loop().post(last);
    EXPECT_EQ(loop().run(), 1U);
}

TEST_P(LoopRun, StopFromAnotherThreadEndsARunThatWaits) {
    std::atomic<bool> running = false;
    job tell([&] { running = true; });
    loop().post(tell);
    std::thread other([&] {
        while (!running) {
            std::this_thread::yield();
        }
        loop().stop();
    });
    EXPECT_EQ(loop().run(), 1U);
    other.join();
}

TEST_P(LoopRun, StopFromACallbackKeepsTheRestForTheNextRun) {
    job first([&] { loop().stop(); });
    job second([&] { loop().stop(); });
    loop().post(first);
    loop().post(second);
    EXPECT_EQ(loop().run(), 1U);
    EXPECT_EQ(second.runs, 0);
    EXPECT_TRUE(second.posted());
    EXPECT_EQ(loop().run(), 1U);
    EXPECT_EQ(second.runs, 1);
}

TEST_P(LoopRun, StopByAThreadInsideACallbackThatTakesTheInboxEndsTheBatch) {
    job outside;
    job second;
    job first([&] {
        std::thread([&] {
            loop().stop();
            loop().post(outside);
        }).join();
        EXPECT_TRUE(loop().disarm(outside));  // to do so the loop takes what others have left
    });
    loop().post(first);
    loop().post(second);
    EXPECT_EQ(loop().run(), 1U);
    EXPECT_EQ(second.runs, 0);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(second.runs, 1);
}

TEST_P(LoopRun, StopTwiceInOneCallbackEndsOneRun) {
    job twice([&] {
        loop().stop();
        loop().stop();
    });
    job last([&] { loop().stop(); });
    loop().post(twice);
    EXPECT_EQ(loop().run(), 1U);
    loop().post(last);
    EXPECT_EQ(loop().run(), 1U);
}

TEST_P(LoopRun, AStopThatMeetsTheEndOfARunEndsTheNextOne) {
    // Whoever drives a loop by run_one() must not miss a stop that came too late for it.
    job tick([&] { std::thread([&] { loop().stop(); }).join(); });
    job after;
    loop().post(tick);
    EXPECT_EQ(loop().run_one(), 1U);
    loop().post(after);
    EXPECT_EQ(loop().run_one(), 0U);
    EXPECT_EQ(loop().run_one(), 1U);
}

TEST_P(LoopRun, ConcurrentStopsAreNeverLost) {
    for (int i = 0; i != 200; ++i) {
        std::thread a([&] { loop().stop(); });
        std::thread b([&] { loop().stop(); });
        loop().run();
        a.join();
        b.join();
        loop().poll();  // takes back a second stop, if it came too late for the run
    }
}

TEST_P(LoopRun, EveryKindOfRunTakesAStopBack) {
    job work;
    loop().post(work);
    loop().stop();
    EXPECT_EQ(loop().run_one(), 0U);
    loop().stop();
    EXPECT_EQ(loop().run_some(), 0U);
    loop().stop();
    EXPECT_EQ(loop().poll(), 0U);
    loop().stop();
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    loop().stop();
    EXPECT_EQ(loop().run_for(1h), 0U);
    EXPECT_EQ(loop().run_one(), 1U);
}

TEST_P(LoopRun, UntilEmptyReturnsAtOnceWhenNothingIsPending) {
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    EXPECT_TRUE(loop().empty());
}

TEST_P(LoopRun, UntilEmptyRunsWhatEntriesTimersAndOperationsBring) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder read_it;
    job late([&] { write_all(writer.get(), "x"); });
    alarm ring(loop(), [&] { loop().post(late); });
    start(read_it, read(from, bytes(buffer)));
    loop().post_after(1ms, ring);
    EXPECT_FALSE(loop().empty());
    EXPECT_EQ(loop().run(run_mode::empty), 3U);
    EXPECT_TRUE(loop().empty());
    EXPECT_EQ(read_it.count(), 1U);
}

TEST_P(LoopRun, UntilEmptyEndsWithStop) {
    alarm far(loop());
    job halt([&] { loop().stop(); });
    loop().post_after(1h, far);
    loop().post(halt);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_TRUE(loop().disarm(far));
}

TEST_P(LoopRun, OneHandlesExactlyOneOfWhatIsReady) {
    job a;
    job b;
    loop().post(a);
    loop().post(b);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(a.runs, 1);
    EXPECT_EQ(b.runs, 0);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(loop().run_one(), 0U);
}

TEST_P(LoopRun, OneWaitsForACompletion) {
    alarm ring(loop());
    loop().post_after(2ms, ring);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(ring.runs, 1);
}

TEST_P(LoopRun, OneHandlesNoSecondCompletionInline) {
    // The second write could be performed inside start(): it must wait for the next run.
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    recorder second;
    recorder first([&](recorder&) { start(second, write(to, bytes("b"))); });
    start(first, write(to, bytes("a")));
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_TRUE(first.ended());
    EXPECT_FALSE(second.ended());
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_TRUE(second.ended());
}

TEST_P(LoopRun, SomeWaitsAtMostOnce) {
    alarm ring(loop());
    loop().post_after(2ms, ring);
    while (ring.runs == 0) {
        const auto waits = loop().counters().waits;
        loop().run_some();
        EXPECT_LE(loop().counters().waits, waits + 1);
    }
}

TEST_P(LoopRun, SomeDoesNotWaitWhenSomethingIsReady) {
    alarm far(loop());
    job ready;
    loop().post_after(1h, far);
    loop().post(ready);
    EXPECT_EQ(loop().run_some(), 1U);
    EXPECT_EQ(loop().counters().waits, 0U);
    loop().disarm(far);
}

TEST_P(LoopRun, SomeReturnsAtOnceWhenNothingIsPending) {
    EXPECT_EQ(loop().run_some(), 0U);
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopRun, SomeReturnsAfterAWakeUpWithoutWork) {
    alarm far(loop());
    loop().post_after(1h, far);
    loop().poll();
    std::atomic<bool> done = false;
    std::thread other([&] {
        while (!done) {
            loop().post_after(2h, far);
            std::this_thread::yield();
        }
    });
    EXPECT_EQ(loop().run_some(), 0U);
    done = true;
    other.join();
    loop().poll();
    loop().disarm(far);
}

TEST_P(LoopRun, PollNeverWaits) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder pending;
    alarm far(loop());
    start(pending, read(from, bytes(buffer)));
    loop().post_after(1h, far);
    for (int i = 0; i != 10; ++i) {
        EXPECT_EQ(loop().poll(), 0U);
    }
    EXPECT_EQ(loop().counters().waits, 0U);
    loop().disarm(far);
    from.close();
    ends(pending);
}

TEST_P(LoopRun, PollHandlesWhatIsReadyButNotWhatThatPosts) {
    make_loop({.batch_max = 8});
    job* again = nullptr;
    job endless([&] { loop().post(*again); });
    again = &endless;
    loop().post(endless);
    EXPECT_EQ(loop().poll(), 8U);
    loop().cancel(endless);
    loop().poll();
    EXPECT_EQ(endless.cancels, 1);
}

/// Work that never ends: an entry that posts itself again, and takes its time.
class flood {
public:
    flood(eddy::loop& on, duration each, std::function<void()> then = {})
        : loop_(on), each_(each), then_(std::move(then)) {
        loop_.post(job_);
    }
    ~flood() {
        loop_.cancel(job_);
        loop_.poll();
    }
    std::size_t runs() const { return runs_; }

private:
    void run() {
        if (each_ != duration(0)) {
            for (const auto end = clock::now() + each_; clock::now() < end;) {}
        }
        ++runs_;
        if (then_) {
            then_();
        }
        loop_.post(job_);
    }

    eddy::loop& loop_;
    duration each_;
    std::function<void()> then_;
    std::size_t runs_ = 0;
    job job_{[this] { run(); }};
};

TEST_P(LoopRun, AsksTheKernelDuringWorkThatNeverEnds) {
    for (const duration each : {duration(0), duration(1us)}) {
        make_loop({.batch_max = 64});
        fd_pair pair = unix_stream_pair();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(8, '\0');
        recorder received([&](recorder&) { loop().stop(); });
        start(received, recv(d, bytes(buffer)));
        std::size_t runs = 0;
        const flood work(loop(), each, [&] {
            if (++runs == 1000) {
                write_all(pair.second.get(), "x");
            }
        });
        loop().run_for(10s);
        EXPECT_TRUE(received.ended());
        if (each != duration(0)) {
            EXPECT_LE(runs, 1000U + 3 * 64)
                << "its batch, one until the look, and those in front of it";
        }
    }
}

/// With more to run, looks are at least 10 us apart.
TEST_P(LoopRun, AsksTheKernelSeldomDuringShortWork) {
    make_loop({.batch_max = 64});
    loop().poll();
    const auto before = loop().counters();
    const auto begin = clock::now();
    const flood work(loop(), 0us);
    loop().run(run_mode::stopped, {.completions = 100'000});
    const auto most = static_cast<std::uint64_t>((clock::now() - begin) / 10us) + 4;
    EXPECT_LE(loop().counters().syscalls - before.syscalls, most);
    EXPECT_EQ(work.runs(), 100'000U);
}

TEST_P(LoopRun, FiresTimersAndStopsDuringShortWork) {
    std::atomic<bool> runs = false;
    const flood work(loop(), 0us, [&] { runs = true; });
    alarm ring(loop(), [&] { loop().stop(); });
    loop().post_after(1ms, ring);
    EXPECT_GT(loop().run_for(10s), 1U);
    EXPECT_EQ(ring.runs, 1);
    runs = false;
    std::jthread other([&] {
        while (!runs) {
            std::this_thread::yield();
        }
        loop().stop();
    });
    const auto begin = clock::now();
    loop().run_for(10s);
    EXPECT_LT(clock::now() - begin, 10s);
}

TEST_P(LoopRun, ForATimeRunsThatLongAndNotLess) {
    const auto begin = clock::now();
    EXPECT_EQ(loop().run_for(3ms), 0U);
    EXPECT_GE(clock::now() - begin, 3ms);
}

TEST_P(LoopRun, ForNoTimeAndUntilThePastHandleWhatIsReady) {
    job a;
    job b;
    job c;
    job d;
    loop().post(a);
    EXPECT_EQ(loop().run_for(0ns), 1U);
    loop().post(b);
    EXPECT_EQ(loop().run_until(clock::now() - 1h), 1U);
    loop().post(c);
    EXPECT_EQ(loop().run_until(time_point::min()), 1U);
    loop().post(d);
    EXPECT_EQ(loop().run_for(duration::min()), 1U);
}

TEST_P(LoopRun, UntilTheClocksMaximumIsUntilStopped) {
    alarm ring(loop(), [&] { loop().stop(); });
    loop().post_after(1ms, ring);
    EXPECT_EQ(loop().run_until(time_point::max()), 1U);
    loop().post_after(1ms, ring);
    EXPECT_EQ(loop().run_for(duration::max()), 1U);
}

TEST_P(LoopRun, UntilATimeEndsAlthoughWorkNeverDoes) {
    job* again = nullptr;
    job endless([&] { loop().post(*again); });
    again = &endless;
    loop().post(endless);
    EXPECT_GT(loop().run_for(2ms), 0U);
    loop().cancel(endless);
    loop().poll();
}

TEST_P(LoopRun, ALimitOfNothingHandlesNothing) {
    job ready;
    loop().post(ready);
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 0}), 0U);
    EXPECT_EQ(ready.runs, 0);
    EXPECT_EQ(loop().run(run_mode::empty, {.completions = 0}), 0U);
    EXPECT_EQ(loop().run(run_mode::drained, {.completions = 0}), 0U);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
}

TEST_P(LoopRun, ALimitOfNothingDoesNotSwallowAStop) {
    job ready;
    loop().post(ready);
    loop().stop();
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 0}), 0U);
    EXPECT_EQ(loop().run(), 0U);
    EXPECT_EQ(loop().poll(), 1U);
}

TEST_P(LoopRun, LimitsOfTwoOneAndOneGiveTwoThreeAndFourInAll) {
    int handled = 0;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 5; ++i) {
        jobs.push_back(std::make_unique<job>([&] { ++handled; }));
        loop().post(*jobs.back());
    }
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 2}), 2U);
    EXPECT_EQ(handled, 2);
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 1}), 1U);
    EXPECT_EQ(handled, 3);
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 1}), 1U);
    EXPECT_EQ(handled, 4);
    loop().poll();
}

TEST_P(LoopRun, ALimitIsExactAlthoughCompletionsComeInline) {
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    recorder writing;
    writing.then([&](recorder& r) { start(r, write(to, bytes("x"))); });
    start(writing, write(to, bytes("x")));
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 2}), 2U);
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 37}), 37U);
    EXPECT_EQ(loop().counters().completions, 39U);
    writing.then({});
    ends(writing);
    EXPECT_EQ(bytes_waiting(reader.get()), 40U);
}

TEST_P(LoopRun, ALimitedRunWaitsForItsCompletions) {
    alarm ring(loop());
    job ready;
    loop().post(ready);
    loop().post_after(2ms, ring);
    EXPECT_EQ(loop().run(run_mode::stopped, {.completions = 2}), 2U);
    EXPECT_EQ(ring.runs, 1);
}

TEST_P(LoopRun, TheSumOfWhatRunsReturnIsWhatTheCounterSays) {
    std::size_t sum = 0;
    job a;
    alarm b(loop());
    for (int i = 0; i != 10; ++i) {
        loop().post(a);
        loop().post_after(0ns, b);
        sum += loop().run_one();
        sum += loop().run(run_mode::empty);
    }
    EXPECT_EQ(sum, 20U);
    EXPECT_EQ(loop().counters().completions, 20U);
}

TEST_P(LoopRun, OneLoopRunsInsideACallbackOfAnother) {
    eddy::loop inner({.engine = GetParam()});
    eddy::loop* seen = nullptr;
    job in([&] { seen = eddy::loop::current(); });
    job out([&] {
        inner.post(in);
        inner.run_one();
        EXPECT_EQ(eddy::loop::current(), &loop());
        loop().stop();
    });
    loop().post(out);
    loop().run();
    EXPECT_EQ(seen, &inner);
    EXPECT_EQ(eddy::loop::current(), nullptr);
}

TEST_P(LoopRun, AnInnerLoopCanUseTheOuterOne) {
    eddy::loop inner({.engine = GetParam()});
    job posted([&] { loop().stop(); });
    job in([&] { loop().post(posted); });
    job out([&] {
        inner.post(in);
        inner.run_one();
    });
    loop().post(out);
    EXPECT_EQ(loop().run(), 2U);
}

TEST_P(LoopRun, ALoopGoesFromThreadToThread) {
    // A new thread often gets the address of one that has ended; it is another thread all the same.
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    for (int i = 0; i != 20; ++i) {
        std::thread([&] {
            recorder writing;
            start(writing, write(to, bytes("x")));
            EXPECT_TRUE(ends(writing));
        }).join();
    }
    EXPECT_EQ(bytes_waiting(reader.get()), 20U);
}

TEST(LoopWait, ARefusalOfTheKernelIsThrownAndTheLoopGoesOnAfterwards) {
    loop l({.engine = engine_kind::epoll});
    job work;
    l.post(work);
    kernel::fail(kernel::call::epoll_wait, EFAULT);
    EXPECT_THROW(l.run_one(), std::system_error);
    kernel::fail_nothing();
    EXPECT_EQ(loop::current(), nullptr);
    EXPECT_EQ(work.cancels, 1) << "nothing stays pending";
    l.post(work);
    EXPECT_EQ(l.run_one(), 1U);
    EXPECT_EQ(work.runs, 1);
}

TEST(LoopWait, AnInterruptedWaitGoesOn) {
    loop l({.engine = engine_kind::epoll});
    alarm ring(l);
    l.post_after(3ms, ring);
    kernel::fail(kernel::call::epoll_wait, EINTR, 0, 3);
    EXPECT_EQ(l.run_one(), 1U);
    kernel::fail_nothing();
    EXPECT_EQ(ring.runs, 1);
}

TEST(LoopMaking, ALoopThatCannotBeMadeThrows) {
    kernel::fail(kernel::call::eventfd, EMFILE);
    EXPECT_THROW(loop({.engine = engine_kind::epoll}), std::system_error);
    kernel::fail(kernel::call::eventfd, EMFILE);
    EXPECT_THROW(loop({.engine = engine_kind::poll}), std::system_error);
    kernel::fail_nothing();
}

}  // namespace
}  // namespace eddy::test::run_test
