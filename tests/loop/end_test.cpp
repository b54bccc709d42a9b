// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <memory>
#include <vector>

namespace eddy::test::end_test {
namespace {

constexpr auto canceled = std::errc::operation_canceled;

class LoopEnd : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopEnd);

TEST_P(LoopEnd, EntriesGetOnCancel) {
    job posted;
    job next;
    loop().post(posted);
    loop().post_next(next);
    end_loop();
    EXPECT_EQ(posted.runs + next.runs, 0);
    EXPECT_EQ(posted.cancels, 1);
    EXPECT_EQ(next.cancels, 1);
}

TEST_P(LoopEnd, WhatAStoppedRunLeftBehindGetsOnCancel) {
    job first([&] { loop().stop(); });
    job second;
    loop().post(first);
    loop().post(second);
    loop().run();
    end_loop();
    EXPECT_EQ(second.runs, 0);
    EXPECT_EQ(second.cancels, 1);
}

TEST_P(LoopEnd, WhatWasQueuedGetsOnCancelWhereverItWaits) {
    job ready;
    job low;
    job next;
    low.set_priority(63);
    job first([&] {
        loop().post(ready);
        loop().post(low);
        loop().post_next(next);
        loop().stop();
    });
    loop().post(first);
    loop().run();
    end_loop();
    for (const job* one : {&ready, &low, &next}) {
        EXPECT_EQ(one->runs, 0);
        EXPECT_EQ(one->cancels, 1);
    }
}

TEST_P(LoopEnd, TimersGetOnCancelAlsoThoseThatAreDue) {
    alarm far(loop());
    alarm due(loop());
    alarm interval(loop());
    interval.set_interval(1ms);
    loop().post_after(1h, far);
    loop().post_after(0ns, interval);
    loop().post_after(0ns, due);
    end_loop();
    for (const alarm* a : {&far, &due, &interval}) {
        EXPECT_EQ(a->runs, 0);
        EXPECT_EQ(a->cancels, 1);
    }
}

TEST_P(LoopEnd, OperationsEndWithCanceled) {
    auto [near, peer] = unix_stream_pair();
    auto [other, other_peer] = unix_stream_pair();
    recorder receiving;
    recorder timed;
    std::string buffer(8, '\0');
    std::string more(8, '\0');
    auto socket = std::make_unique<descriptor>(loop(), std::move(near));
    auto second = std::make_unique<descriptor>(loop(), std::move(other));
    // A completion is the place to let go of a descriptor.
    receiving.then([&](recorder&) { socket.reset(); });
    timed.then([&](recorder&) { second.reset(); });
    start(receiving, recv(*socket, bytes(buffer)));
    start(timed, recv(*second, bytes(more)), clock::now() + 1h);
    loop().poll();
    end_loop();
    EXPECT_EQ(receiving.error(), canceled);
    EXPECT_EQ(timed.error(), canceled);
    EXPECT_EQ(receiving.endings() + timed.endings(), 2U);
}

TEST_P(LoopEnd, WhatHandlersPostSetOrStartMeanwhileIsCancelledToo) {
    eddy::loop& ending = loop();
    auto [near, peer] = unix_stream_pair();
    auto socket = std::make_unique<descriptor>(loop(), std::move(near));
    std::string buffer(8, '\0');
    job late;
    alarm later(loop());
    recorder receiving([&](recorder&) { socket.reset(); });
    recorder sending([&](recorder&) { receiving.start(ending, recv(*socket, bytes(buffer))); });
    job first({}, [&] {
        ending.post(late);
        ending.post_after(0ns, later);
        sending.start(ending, send(*socket, bytes("x")));
    });
    loop().post(first);
    end_loop();
    EXPECT_EQ(late.cancels, 1);
    EXPECT_EQ(later.cancels, 1);
    EXPECT_EQ(sending.error(), canceled);
    EXPECT_EQ(receiving.error(), canceled);
}

TEST_P(LoopEnd, HandlersSeeTheLoopAsTheCurrentOne) {
    eddy::loop* seen = nullptr;
    job work({}, [&] { seen = eddy::loop::current(); });
    const eddy::loop* const expected = &loop();
    loop().post(work);
    end_loop();
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(eddy::loop::current(), nullptr);
}

TEST_P(LoopEnd, AStopDoesNotKeepItFromDraining) {
    job work;
    loop().post(work);
    loop().stop();
    end_loop();
    EXPECT_EQ(work.cancels, 1);
}

TEST_P(LoopEnd, ALoopThatWasNeverRunEnds) {
    end_loop();
    eddy::loop another({.engine = GetParam()});
}

TEST_P(LoopEnd, AThousandPendingOfEachAreCancelledOnceEach) {
    std::vector<std::unique_ptr<job>> jobs;
    std::vector<std::unique_ptr<alarm>> alarms;
    for (int i = 0; i != 1000; ++i) {
        jobs.push_back(std::make_unique<job>());
        alarms.push_back(std::make_unique<alarm>(loop()));
        loop().post(*jobs.back());
        loop().post_after(std::chrono::hours(i), *alarms.back());
    }
    end_loop();
    for (const auto& one : jobs) {
        EXPECT_EQ(one->cancels, 1);
    }
    for (const auto& one : alarms) {
        EXPECT_EQ(one->cancels, 1);
    }
}

}  // namespace
}  // namespace eddy::test::end_test
