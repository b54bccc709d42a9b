// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_fixture.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace eddy::test::priority_test {
namespace {

class LoopPriority : public LoopTest {
protected:
    job& add(priority_level priority, std::function<void()> run) {
        jobs_.push_back(std::make_unique<job>(std::move(run)));
        jobs_.back()->set_priority(priority);
        return *jobs_.back();
    }

private:
    std::vector<std::unique_ptr<job>> jobs_;
};
EDDY_ON_EVERY_ENGINE(LoopPriority);

TEST_P(LoopPriority, LowerNumbersRunFirstAndEqualOnesInTurn) {
    std::vector<int> order;
    int number = 0;
    for (const int priority : {63, 0, 32, 63, 0, 32}) {
        loop().post(add(static_cast<priority_level>(priority),
                        [&order, number] { order.push_back(number); }));
        ++number;
    }
    loop().run(run_mode::empty);
    EXPECT_EQ(order, (std::vector<int>{1, 4, 2, 5, 0, 3}));
}

TEST_P(LoopPriority, WhatIsPostedMeanwhileOvertakes) {
    std::vector<int> order;
    job& urgent = add(0, [&] { order.push_back(0); });
    job& last = add(63, [&] { order.push_back(63); });
    job& middle = add(10, [&] {
        order.push_back(10);
        loop().post(urgent);
    });
    loop().post(last);
    loop().post(middle);
    loop().run(run_mode::empty);
    EXPECT_EQ(order, (std::vector<int>{10, 0, 63}));
}

TEST_P(LoopPriority, OfTwoDueTimersTheOneOfHigherPriorityRunsFirst) {
    std::vector<int> order;
    alarm low(loop(), [&] { order.push_back(2); });
    alarm high(loop(), [&] { order.push_back(1); });
    low.set_priority(40);
    high.set_priority(4);
    const auto when = clock::now();
    loop().post_at(when, low);
    loop().post_at(when, high);
    loop().run(run_mode::empty);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(LoopPriority, AnOperationHasAPriorityToo) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    recorder waiting;
    std::vector<int> order;
    waiting.operation().set_priority(1);
    waiting.then([&](recorder&) { order.push_back(1); });
    start(waiting, wait(from, interest::readable));
    loop().poll();
    write_all(writer.get(), "x");
    loop().post(add(2, [&] { order.push_back(2); }));
    until([&] { return order.size() == 2; });
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

class LoopBatch : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopBatch);

TEST_P(LoopBatch, TheKernelIsAskedAfterEachBatchOfPosts) {
    make_loop({.batch_max = 10});
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 100; ++i) {
        jobs.push_back(std::make_unique<job>());
        loop().post(*jobs.back());
    }
    EXPECT_EQ(loop().run(run_mode::empty), 100U);
    EXPECT_GE(loop().counters().turns, 10U);
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopBatch, InlineCompletionsCountForTheBatch) {
    make_loop({.batch_max = 10, .inline_max = 8});
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    recorder writing;
    writing.then([&](recorder& r) { start(r, write(to, bytes("x"))); });
    start(writing, write(to, bytes("x")));
    for (int i = 0; i != 20; ++i) {
        EXPECT_LE(loop().poll(), 10U);
    }
    writing.then({});
    ends(writing);
}

TEST_P(LoopBatch, ABatchOfNothingIsABatchOfOne) {
    make_loop({.batch_max = 0});
    job work;
    loop().post(work);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
}

class LoopInline : public LoopTest {
protected:
    /// Performs `count` writes of no bytes, each started by the completion of the one before: those
    /// are over as soon as they begin, on every engine.
    void chain(int count) {
        auto [reader, writer] = make_pipe();
        descriptor to = attach(std::move(writer));
        recorder writing;
        writing.then([&](recorder& r) {
            depth_max_ = std::max(depth_max_, ++depth_);
            if (--count > 0) {
                start(r, write(to, {}));
            }
            --depth_;
        });
        job begin([&] { start(writing, write(to, {})); });
        loop().post(begin);
        loop().run(run_mode::empty);
        EXPECT_EQ(count, 0);
    }
    int depth_ = 0;
    int depth_max_ = 0;
};
EDDY_ON_EVERY_ENGINE(LoopInline);

TEST_P(LoopInline, AMillionCompletionsInARowDoNotOverflowTheStack) {
    chain(1'000'000);
    EXPECT_LE(depth_max_, 17);
    EXPECT_GT(loop().counters().inline_completions, 0U);
}

TEST_P(LoopInline, TheDepthIsWhatTheOptionSays) {
    make_loop({.inline_max = 3});
    chain(100);
    EXPECT_EQ(depth_max_, 4);  // the one that the loop calls, and three inside each other
}

TEST_P(LoopInline, ADepthOfNothingMeansNever) {
    make_loop({.inline_max = 0});
    chain(100);
    EXPECT_EQ(depth_max_, 1);
    EXPECT_EQ(loop().counters().inline_completions, 0U);
}

TEST_P(LoopInline, OutsideARunNothingCompletesInline) {
    auto [reader, writer] = make_pipe();
    descriptor to = attach(std::move(writer));
    recorder writing;
    start(writing, write(to, {}));
    EXPECT_FALSE(writing.ended());
    EXPECT_TRUE(ends(writing));
}

}  // namespace
}  // namespace eddy::test::priority_test
