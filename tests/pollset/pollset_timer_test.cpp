// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <eddy/pollset/pollset_timer.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace eddy::test::pollset_timer_test {
namespace {

class PollsetTimer : public PollsetTest {};

TEST_P(PollsetTimer, FiresOnceAndNotBeforeItsTime) {
    pollset set(domain());
    time_point fired;
    int times = 0;
    callback due([&](std::error_code error) {
        EXPECT_FALSE(error);
        fired = clock::now();
        ++times;
    });
    pollset_timer timer(set, due);
    const time_point when = clock::now() + 15ms;
    ASSERT_FALSE(timer.set_at(when));
    EXPECT_TRUE(until(set, [&] { return times == 1; }));
    EXPECT_GE(fired, when);
    EXPECT_FALSE(timer.cancel()) << "it has run";
    EXPECT_EQ(*set.work(clock::now() + 5ms), work_end::timed_out);
    EXPECT_EQ(times, 1);
}

TEST_P(PollsetTimer, ACancelledOneNeverRuns) {
    pollset set(domain());
    noted due;
    pollset_timer timer(set, due);
    EXPECT_FALSE(timer.cancel()) << "it was not set";
    ASSERT_FALSE(timer.set_after(5ms));
    EXPECT_TRUE(timer.cancel());
    EXPECT_FALSE(timer.cancel());
    EXPECT_EQ(*set.work(clock::now() + 15ms), work_end::timed_out);
    EXPECT_EQ(due.calls(), 0);
}

TEST_P(PollsetTimer, CanBeMovedBothWays) {
    pollset set(domain());
    std::vector<int> order;
    callback first([&](std::error_code) { order.push_back(1); });
    callback second([&](std::error_code) { order.push_back(2); });
    pollset_timer one(set, first);
    pollset_timer two(set, second);
    const time_point now = clock::now();
    ASSERT_FALSE(one.set_at(now + 2ms));
    ASSERT_FALSE(two.set_at(now + 1h));
    ASSERT_FALSE(one.set_at(now + 10ms));
    ASSERT_FALSE(two.set_at(now + 5ms));
    EXPECT_TRUE(until(set, [&] { return order.size() == 2; }));
    EXPECT_EQ(order, (std::vector{2, 1}));
    EXPECT_GE(clock::now(), now + 10ms);
}

TEST_P(PollsetTimer, AThousandAtRandomFireInOrder) {
    random_numbers random;
    pollset set(domain());
    struct one : closure {
        one() noexcept
            : closure([](closure& self, std::error_code) {
                  auto& me = static_cast<one&>(self);
                  EXPECT_GE(clock::now(), me.when);
                  me.order->push_back(&me);
              }) {}
        std::vector<one*>* order = nullptr;
        time_point when;
        int number = 0;
    };
    std::vector<one*> order;
    std::deque<one> closures(1000);
    std::deque<pollset_timer> timers;
    const time_point start = clock::now();
    std::size_t cancelled = 0;
    int number = 0;
    for (one& c : closures) {
        c.order = &order;
        c.number = number++;
        timers.emplace_back(set, c);
        c.when = start + random.below(20) * 1ms;
        ASSERT_FALSE(timers.back().set_at(c.when));
        if (random.below(4) == 0) {
            EXPECT_TRUE(timers.back().cancel());
            ++cancelled;
        }
    }
    EXPECT_TRUE(until(set, [&] { return order.size() + cancelled == closures.size(); }));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [](const one* a, const one* b) {
        return a->when < b->when || (a->when == b->when && a->number < b->number);
    }));
}

TEST_P(PollsetTimer, RunsInItsOwnPollset) {
    pollset here(domain());
    pollset there(domain());
    noted due;
    pollset_timer timer(there, due);
    ASSERT_FALSE(timer.set_after(1ms));
    EXPECT_EQ(*here.work(clock::now() + 10ms), work_end::timed_out);
    EXPECT_EQ(due.calls(), 0);
    EXPECT_TRUE(until(there, [&] { return due.calls() == 1; }));
}

TEST_P(PollsetTimer, IsSetWhileAWorkerIsInTheKernel) {
    pollset set(domain());
    noted due;
    pollset_timer timer(set, due);
    std::thread worker([&] { EXPECT_TRUE(until(set, [&] { return due.calls() == 1; })); });
    while (domain().counters().waits == 0) {
        std::this_thread::yield();
    }
    ASSERT_FALSE(timer.set_after(1ms));
    worker.join();
}

TEST_P(PollsetTimer, IsToldOfTheShutdown) {
    pollset set(domain());
    noted due;
    noted done;
    pollset_timer timer(set, due);
    ASSERT_FALSE(timer.set_after(1h));
    set.shutdown(done);
    EXPECT_EQ(due.calls(), 1);
    EXPECT_EQ(due.error(), std::errc::operation_canceled);
    EXPECT_EQ(done.calls(), 1);
    EXPECT_EQ(timer.set_after(1ms), std::errc::operation_canceled);
}

TEST_P(PollsetTimer, MayBeDestroyedInsideItsClosure) {
    pollset set(domain());
    std::optional<pollset_timer> timer;
    int times = 0;
    callback due([&](std::error_code) {
        timer.reset();
        ++times;
    });
    timer.emplace(set, due);
    ASSERT_FALSE(timer->set_after(1ms));
    EXPECT_TRUE(until(set, [&] { return times == 1; }));
}

TEST_P(PollsetTimer, SetAnewInsideItsClosureKeepsGoing) {
    pollset set(domain());
    std::optional<pollset_timer> timer;
    int times = 0;
    callback due([&](std::error_code) {
        if (++times != 20) {
            EXPECT_FALSE(timer->set_after(100us));
        }
    });
    timer.emplace(set, due);
    ASSERT_FALSE(timer->set_after(0ms));
    EXPECT_TRUE(until(set, [&] { return times == 20; }));
}

TEST_P(PollsetTimer, AtTheShutdownAClosureMayCancelAndDestroyTheOthers) {
    struct owner : closure {
        owner(pollset& set, std::unique_ptr<owner>& o, int& c)
            : closure([](closure& self, std::error_code error) {
                  auto& me = static_cast<owner&>(self);
                  EXPECT_EQ(error, std::errc::operation_canceled);
                  ++me.calls;
                  EXPECT_TRUE(me.other->timer.cancel());
                  me.other.reset();
              }),
              other(o),
              calls(c),
              timer(set, *this) {}
        std::unique_ptr<owner>& other;
        int& calls;
        pollset_timer timer;
    };
    pollset set(domain());
    int calls = 0;
    std::unique_ptr<owner> one;
    std::unique_ptr<owner> two;
    one = std::make_unique<owner>(set, two, calls);
    two = std::make_unique<owner>(set, one, calls);
    ASSERT_FALSE(one->timer.set_after(1h));
    ASSERT_FALSE(two->timer.set_after(1h));
    noted done;
    set.shutdown(done);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(done.calls(), 1);
}

TEST_P(PollsetTimer, AClosureThatWaitsElsewhereIsRefused) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    ASSERT_FALSE(set.add(*handle));
    noted due;
    pollset_timer one(set, due);
    pollset_timer two(set, due);
    const auto waits = std::errc::connection_already_in_progress;
    ASSERT_FALSE(one.set_after(1h));
    EXPECT_EQ(two.set_after(1h), waits);
    EXPECT_EQ(handle->notify_on_read(due), waits);
    EXPECT_FALSE(one.set_after(2h)) << "it is its own";
    EXPECT_FALSE(two.cancel());
    EXPECT_TRUE(one.cancel());
    ASSERT_FALSE(handle->notify_on_read(due));
    EXPECT_EQ(one.set_after(1h), waits);
    EXPECT_TRUE(handle->cancel(due));
    ASSERT_FALSE(two.set_at(clock::now()));
    EXPECT_TRUE(until(set, [&] { return due.calls() == 1; }));
    ASSERT_FALSE(one.set_after(1h)) << "it was called, and is free again";
    noted done;
    set.shutdown(done);
    EXPECT_EQ(due.calls(), 2);
    EXPECT_EQ(due.error(), std::errc::operation_canceled);
}

TEST_P(PollsetTimer, IsNotToldTheErrorOfWhatItsClosureWasUsedForBefore) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    handle->shutdown(std::make_error_code(std::errc::host_unreachable));
    noted due;
    ASSERT_FALSE(handle->notify_on_read(due));
    ASSERT_EQ(due.error(), std::errc::host_unreachable);
    pollset_timer timer(set, due);
    ASSERT_FALSE(timer.set_at(clock::now()));
    ASSERT_TRUE(until(set, [&] { return due.calls() == 2; }));
    EXPECT_FALSE(due.error()) << due.error();
}

TEST_P(PollsetTimer, WhatAnExecutorHasStaysWithItWhateverBecomesOfTheTimer) {
    later executor;
    poll_domain elsewhere({.strategy = GetParam(), .executor = &executor});
    pollset set(elsewhere);
    noted due;
    noted ended;
    std::optional<pollset_timer> timer;
    timer.emplace(set, due);
    pollset_timer other(set, ended);
    ASSERT_FALSE(timer->set_at(clock::now()));
    ASSERT_FALSE(other.set_after(1h));
    ASSERT_TRUE(until(set, [&] { return executor.size() == 1; }));
    EXPECT_FALSE(timer->cancel());
    EXPECT_EQ(timer->set_after(1h), std::errc::connection_already_in_progress);
    timer.reset();
    noted done;
    set.shutdown(done);
    EXPECT_FALSE(other.cancel());
    ASSERT_EQ(executor.size(), 3U);
    EXPECT_EQ(due.calls() + ended.calls() + done.calls(), 0);
    executor.run_all();
    EXPECT_EQ(due.calls(), 1);
    EXPECT_FALSE(due.error());
    EXPECT_EQ(ended.error(), std::errc::operation_canceled);
    EXPECT_EQ(done.calls(), 1);
}

TEST_P(PollsetTimer, TimersWithAnotherPriorityAreCalledFirst) {
    pollset set(domain());
    std::string order;
    callback on_low([&](std::error_code) { order += 'l'; });
    callback on_high([&](std::error_code) { order += 'h'; });
    pollset_timer low(set, on_low, 40);
    pollset_timer high(set, on_high, 3);
    const time_point now = clock::now();
    ASSERT_FALSE(low.set_at(now - 2ms));
    ASSERT_FALSE(high.set_at(now - 1ms));
    EXPECT_TRUE(until(set, [&] { return order.size() == 2; }));
    EXPECT_EQ(order, "hl");
}

EDDY_WITH_EVERY_STRATEGY(PollsetTimer);

}  // namespace
}  // namespace eddy::test::pollset_timer_test
