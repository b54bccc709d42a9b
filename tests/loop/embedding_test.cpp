// SPDX-License-Identifier: Apache-2.0
#include "loop/host.hpp"
#include "loop/loop_fixture.hpp"
#include "support/in_child.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <unistd.h>

namespace eddy::test::embedding_test {
namespace {

/// On every engine that has a handle: a loop that nobody runs but a host that sleeps in poll(2).
class LoopEmbedded : public LoopTest {
protected:
    void SetUp() override {
        LoopTest::SetUp();
        if (!IsSkipped()) {
            embed();
        }
    }
    void TearDown() override {
        host_.reset();
        inner_.reset();
        LoopTest::TearDown();
    }
    void embed() {
        inner_.emplace(loop());
        host_.emplace(*inner_);
    }
    void embed_anew(loop_options options) {
        host_.reset();
        inner_.reset();
        end_loop();
        make_loop(options);
        embed();
    }

    bare_host& host() { return *host_; }
    embedding& inner() { return *inner_; }
    bool readable() { return is_readable(inner_->handle()); }

private:
    std::optional<embedding> inner_;
    std::optional<bare_host> host_;
};
INSTANTIATE_TEST_SUITE_P(Engine, LoopEmbedded,
                         ::testing::Values(engine_kind::epoll, engine_kind::io_uring), engine_name);

TEST_P(LoopEmbedded, TheHandleIsQuietWhenThereIsNothingToDo) {
    host().settle();
    EXPECT_FALSE(readable());
    EXPECT_EQ(inner().run_ready(), 0U);
    EXPECT_FALSE(readable()) << "a look at nothing leaves nothing behind";
    EXPECT_EQ(loop().native_handle(), inner().handle());
    EXPECT_FALSE(readable()) << "asking for it again is no event";
}

TEST_P(LoopEmbedded, WhatWasThereBeforeTheHandleWasTakenIsTold) {
    auto [near, far] = unix_stream_pair();
    eddy::loop other({.engine = GetParam()});
    descriptor socket(other, std::move(near));
    recorder reading;
    std::string buffer(8, '\0');
    reading.start(other, recv(socket, bytes(buffer)));
    send_all(far.get(), "x");
    job posted;
    other.post(posted);
    alarm ring(other);
    other.post_after(1ms, ring);

    embedding late(other);
    bare_host sleeper(late);
    EXPECT_TRUE(sleeper.until([&] { return reading.ended() && ring.runs == 1; }));
    EXPECT_EQ(posted.runs, 1);
    EXPECT_EQ(reading.count(), 1U);
}

TEST_P(LoopEmbedded, BytesWakeTheHost) {
    auto [near, far] = unix_stream_pair();
    const descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    for (int i = 0; i != 100; ++i) {
        recorder reading;
        start(reading, recv(socket, bytes(buffer)));
        host().settle();
        ASSERT_FALSE(readable());
        send_all(far.get(), "abc");
        ASSERT_TRUE(host().until([&] { return reading.ended(); }));
        ASSERT_EQ(reading.count(), 3U);
    }
}

TEST_P(LoopEmbedded, StartsBetweenTwoTurnsAreSubmittedWithoutAskingTheHost) {
    auto [near, far] = unix_stream_pair();
    const descriptor socket = attach(std::move(near));
    send_all(far.get(), "already there");
    host().settle();
    std::string buffer(64, '\0');
    recorder reading;
    start(reading, recv(socket, bytes(buffer)));
    EXPECT_TRUE(host().until([&] { return reading.ended(); }));

    recorder waiting;
    start(waiting, recv(socket, bytes(buffer)));
    host().settle();
    loop().cancel(waiting.operation());
    EXPECT_TRUE(host().until([&] { return waiting.ended(); }));
    EXPECT_EQ(waiting.error(), std::errc::operation_canceled);
}

TEST_P(LoopEmbedded, AClosedDescriptorEndsItsOperationsWhileTheHostSleeps) {
    auto [near, far] = unix_stream_pair();
    descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder reading;
    start(reading, recv(socket, bytes(buffer)));
    host().settle();
    socket.close();
    EXPECT_TRUE(host().until([&] { return reading.ended(); }));
    EXPECT_EQ(read_to_end(far.get()), "");
}

TEST_P(LoopEmbedded, TimersNeedNothingButTheHandle) {
    host().settle();
    alarm ring(loop());
    const time_point due = clock::now() + 5ms;
    loop().post_at(due, ring);  // nobody is told of the deadline
    EXPECT_TRUE(host().until([&] { return ring.runs == 1; }));
    EXPECT_GE(clock::now(), due);
    EXPECT_LT(host().sleeps, 20U);
    host().settle();
    EXPECT_FALSE(readable());
}

TEST_P(LoopEmbedded, ATimerThatIsMovedOrTakenBackIsStillOnTime) {
    alarm first(loop());
    alarm second(loop());
    loop().post_after(1h, first);
    loop().post_after(2ms, second);
    host().settle();
    loop().disarm(second);
    loop().post_after(4ms, first);
    EXPECT_TRUE(host().until([&] { return first.runs == 1; }));
    loop().post_after(3ms, second);
    host().settle();
    const int before = second.runs;  // not 0 if 3 ms have passed already
    loop().post_after(6ms, second);  // the timerfd comes too early for this
    const time_point due = loop().next_deadline();
    EXPECT_TRUE(host().until([&] { return second.runs == before + 1; }));
    EXPECT_GE(clock::now(), due);
}

TEST_P(LoopEmbedded, ATimerThatSetsTheNextOneKeepsItsPace) {
    std::optional<alarm> ring;
    ring.emplace(loop(), [&] {
        if (ring->runs != 200) {
            loop().post_after(50us, *ring);
        }
    });
    loop().post_after(0ns, *ring);
    EXPECT_TRUE(host().until([&] { return ring->runs == 200; }));
    host().settle();
    ring.reset();
}

TEST_P(LoopEmbedded, ADeadlineOfAnOperationWakesTheHost) {
    auto [near, far] = unix_stream_pair();
    const descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder reading;
    host().settle();
    start(reading, recv(socket, bytes(buffer)), clock::now() + 3ms);
    EXPECT_TRUE(host().until([&] { return reading.ended(); }));
    EXPECT_EQ(reading.error(), errc::timed_out);
}

TEST_P(LoopEmbedded, SystemClockTimersArePartOfTheHandle) {
    alarm ring(loop(), {}, {}, timer_clock::system);
    loop().post_at(std::chrono::system_clock::now() + 3ms, ring);
    EXPECT_TRUE(host().until([&] { return ring.runs == 1; }));
}

TEST_P(LoopEmbedded, MoreThanABatchIsToldOfUntilItIsDone) {
    embed_anew({.batch_max = 3});
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 100; ++i) {
        jobs.push_back(std::make_unique<job>());
        loop().post(*jobs.back());
    }
    EXPECT_TRUE(host().until([&] { return jobs.back()->runs == 1; }));
    EXPECT_GE(host().sleeps, 33U) << "the host had its turn in between";
    EXPECT_EQ(host().completions, 100U);
    host().settle();
    EXPECT_FALSE(readable());
}

TEST_P(LoopEmbedded, AnEntryThatPostsItselfLetsTheHostRun) {
    std::optional<job> again;
    again.emplace([&] {
        if (again->runs % 2 != 0) {
            loop().post_next(*again);
        } else if (again->runs < 100) {
            loop().post(*again);
        }
    });
    loop().post(*again);
    EXPECT_TRUE(host().until([&] { return again->runs == 100; }));
}

TEST_P(LoopEmbedded, MoreEventsThanFitIntoOneLookAreAllDelivered) {
    constexpr int pairs = 400;
    std::vector<fd_pair> ends;
    std::vector<descriptor> sockets;
    std::vector<std::unique_ptr<recorder>> reads;
    std::vector<std::string> buffers(pairs, std::string(4, '\0'));
    for (int i = 0; i != pairs; ++i) {
        ends.push_back(unix_stream_pair());
        sockets.push_back(attach(std::move(ends.back().first)));
    }
    for (int round = 0; round != 3; ++round) {
        reads.clear();
        for (std::size_t i = 0; i != pairs; ++i) {
            reads.push_back(std::make_unique<recorder>());
            start(*reads.back(), recv(sockets[i], bytes(buffers[i])));
        }
        host().settle();
        for (const fd_pair& pair : ends) {
            send_all(pair.second.get(), "x");
        }
        const auto all = [&] {
            return std::all_of(reads.begin(), reads.end(), [](auto& r) { return r->ended(); });
        };
        ASSERT_TRUE(host().until(all)) << "round " << round;
    }
}

TEST_P(LoopEmbedded, PostsOfOtherThreadsReachAHostThatSleeps) {
    constexpr int threads = 3;
    constexpr int posts = 5000;
    std::atomic<int> done = 0;
    std::vector<std::thread> others;
    for (int t = 0; t != threads; ++t) {
        others.emplace_back([&] {
            std::atomic<int> ran = 0;
            job one([&] {
                ++done;
                ++ran;
                ran.notify_one();
            });
            // One at a time, so that the host falls asleep again and again.
            for (int i = 0; i != posts; ++i) {
                loop().post(one);
                ran.wait(i);
            }
        });
    }
    EXPECT_TRUE(host().until([&] { return done == threads * posts; }));
    for (std::thread& other : others) {
        other.join();
    }
}

TEST_P(LoopEmbedded, LookingAtTheLoopDoesNotMakeItDeaf) {
    host().settle();
    EXPECT_EQ(loop().next_deadline(), never);
    loop().for_each_live([](const live_operation&) {});
    EXPECT_FALSE(readable());
    job posted;
    std::thread([&] { loop().post(posted); }).join();
    EXPECT_TRUE(readable());
    EXPECT_EQ(loop().next_deadline(), never);  // takes it in
    EXPECT_TRUE(readable()) << "and it is still to be run";
    EXPECT_TRUE(host().until([&] { return posted.runs == 1; }));
}

TEST_P(LoopEmbedded, DisarmingATimerDoesNotMakeTheLoopDeaf) {
    alarm ring(loop());
    loop().post_after(1h, ring);
    host().settle();
    loop().post_after(2h, ring);
    EXPECT_TRUE(loop().disarm(ring));
    host().settle();
    job posted;
    std::thread([&] { loop().post(posted); }).join();
    EXPECT_TRUE(host().until([&] { return posted.runs == 1; }));
}

TEST_P(LoopEmbedded, AStopEndsOneTurnAndLosesNothing) {
    auto [near, far] = unix_stream_pair();
    const descriptor socket = attach(std::move(near));
    std::string buffer(8, '\0');
    recorder reading;
    start(reading, recv(socket, bytes(buffer)));
    host().settle();
    send_all(far.get(), "x");
    loop().stop();
    EXPECT_EQ(inner().run_ready(), 0U);
    EXPECT_TRUE(host().until([&] { return reading.ended(); }));
}

TEST_P(LoopEmbedded, ItMayBeRunInOtherWaysInBetween) {
    alarm late(loop());
    loop().post_after(1h, late);
    alarm ring(loop());
    job sets([&] { loop().post_after(3ms, ring); });
    loop().post(sets);
    loop().run_one();
    EXPECT_TRUE(host().until([&] { return ring.runs == 1; }));
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(late.cancels, 1);
    loop().post_after(2ms, ring);
    EXPECT_TRUE(host().until([&] { return ring.runs == 2; })) << "the timerfd is watched again";
}

TEST_P(LoopEmbedded, TheHandleAndTheNextDeadlineSufficeWithoutATimerfd) {
    eddy::loop other({.engine = GetParam()});
    pollfd one{other.native_handle(), POLLIN, 0};
    alarm ring(other);
    job posted;
    other.post_after(4ms, ring);
    other.post(posted);
    for (int i = 0; i != 100 && ring.runs == 0; ++i) {
        const time_point due = other.next_deadline();
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - clock::now());
        const auto limit = due == never ? -1 : std::max<std::int64_t>(left.count(), 0);
        ::poll(&one, 1, static_cast<int>(limit));
        other.poll();
    }
    EXPECT_EQ(ring.runs, 1);
    EXPECT_EQ(posted.runs, 1);
}

TEST_P(LoopEmbedded, ALoopWithoutOperationsMovesToAnotherThreadWithItsHandle) {
    eddy::loop other({.engine = GetParam()});
    const int handle = other.native_handle();
    job posted;
    const auto serve = [&](int runs) {
        other.post(posted);
        for (int i = 0; i != 10 && posted.runs != runs; ++i) {
            EXPECT_TRUE(becomes_ready(handle, POLLIN));
            other.poll();
        }
        EXPECT_EQ(posted.runs, runs);
    };
    serve(1);
    std::thread([&] { serve(2); }).join();
    serve(3);
    EXPECT_EQ(other.native_handle(), handle);
}

TEST_P(LoopEmbedded, TheHandleIsAskedForBeforeIoUringHasAnythingPending) {
    if (!on(engine_kind::io_uring)) {
        GTEST_SKIP() << "only io_uring makes its ring for it";
    }
    auto [near, far] = unix_stream_pair();
    eddy::loop other({.engine = GetParam()});
    const descriptor socket(other, std::move(near));
    std::string buffer(8, '\0');
    recorder reading;
    reading.start(other, recv(socket, bytes(buffer)));
    other.poll();
    try {
        static_cast<void>(other.native_handle());
        FAIL() << "the ring was replaced with an operation in it";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::device_or_resource_busy);
    }
    other.cancel(reading.operation());
    other.run(run_mode::empty);
    EXPECT_TRUE(is_readable(other.native_handle()));
}

TEST_P(LoopEmbedded, AnEventfdThatIsReadTellsEveryTime) {
    const descriptor counter = attach(make_eventfd());
    std::uint64_t value = 0;
    for (int i = 0; i != 20; ++i) {
        recorder reading;
        start(reading, read(counter, std::as_writable_bytes(std::span(&value, 1))));
        host().settle();
        std::thread([&] {
            const std::uint64_t one = 1;
            ASSERT_EQ(::write(counter.native_handle(), &one, sizeof one), 8);
        }).join();
        ASSERT_TRUE(host().until([&] { return reading.ended(); })) << i;
        ASSERT_EQ(value, 1U);
    }
}

TEST_P(LoopEmbedded, AnotherEmbeddingCanFollow) {
    alarm ring(loop());
    for (int i = 1; i != 4; ++i) {
        embed();
        loop().post_after(2ms, ring);
        ASSERT_TRUE(host().until([&] { return ring.runs == i; }));
    }
}

TEST_P(LoopEmbedded, AChildMakesAnotherAndLeavesTheParentsAlone) {
    alarm ring(loop());
    loop().post_after(30ms, ring);
    host().settle();
    EXPECT_EQ(in_child([&] {
                  loop().after_fork_in_child();
                  embed();
                  alarm own(loop());
                  loop().post_after(1ms, own);
                  const bool fired = host().until([&] { return own.runs == 1; });
                  loop().disarm(ring);
                  return fired ? 0 : 1;
              }),
              0);
    EXPECT_TRUE(host().until([&] { return ring.runs == 1; }));
}

TEST_P(LoopEmbedded, AReturnedBufferWakesAHostWhoseReceiveStarves) {
    embed_anew({.lease_count = 1, .lease_max = 1});
    auto [near, far] = unix_stream_pair();
    const descriptor socket = attach(std::move(near));
    lease held;
    recorder first([&](recorder& r) { held = loop().take_lease(r.operation()); });
    start(first, receive(socket));
    send_all(far.get(), "one");
    ASSERT_TRUE(host().until([&] { return first.ended(); }));
    recorder second;
    start(second, receive(socket));
    send_all(far.get(), "two");
    host().settle();
    EXPECT_FALSE(second.ended());
    std::thread([&] { held = {}; }).join();
    EXPECT_TRUE(host().until([&] { return second.ended(); }));
}

class LoopWithoutHandle : public ::testing::Test {};

TEST_F(LoopWithoutHandle, ThePollEngineSaysThatItHasNone) {
    eddy::loop plain({.engine = engine_kind::poll});
    try {
        static_cast<void>(plain.native_handle());
        FAIL() << "there is one";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::not_supported);
        EXPECT_NE(std::string(error.what()).find("poll"), std::string::npos);
    }
    EXPECT_THROW(embedding{plain}, std::system_error);
    job posted;
    plain.post(posted);
    EXPECT_EQ(plain.poll(), 1U);
}

}  // namespace
}  // namespace eddy::test::embedding_test
