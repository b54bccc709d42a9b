// SPDX-License-Identifier: Apache-2.0
#include "support/in_child.hpp"
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <eddy/base/error.hpp>
#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <atomic>
#include <climits>
#include <deque>
#include <optional>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <sys/eventfd.h>

namespace eddy::test::hard_cases_test {
namespace {

/// Has enough after that many calls.
class greedy final : public pollset_watch {
public:
    greedy(pollset& set, unique_fd fd, int limit = INT_MAX)
        : pollset_watch(set, std::move(fd), interest::readable), limit_(limit) {}
    std::atomic<int> calls = 0;
    duration pause{};
    int removals = 0;

private:
    reaction on_ready(interest) override {
        if (pause != duration::zero()) {
            std::this_thread::sleep_for(pause);
        }
        return ++calls == limit_ ? reaction::disarm : reaction::again;
    }
    void on_removed() noexcept override { ++removals; }

    int limit_;
};

class PollsetHardCases : public PollsetTest {};

TEST_P(PollsetHardCases, WhoIsAlwaysReadyDoesNotKeepTheOthersOut) {
    pollset set(domain());
    auto [busy, busy_end] = make_pipe();
    auto [quiet, quiet_end] = make_pipe();
    greedy watch(set, std::move(busy));
    held_handle handle(domain(), std::move(quiet));
    noted readable;
    noted due;
    pollset_timer timer(set, due);
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    watch.arm();
    write_all(busy_end.get(), "x");
    ASSERT_TRUE(until(set, [&] { return watch.calls != 0; }));
    write_all(quiet_end.get(), "x");
    ASSERT_FALSE(timer.set_at(clock::now()));
    for (int round = 0; round != 1000 && (readable.calls() == 0 || due.calls() == 0); ++round) {
        ASSERT_EQ(*set.try_work(), work_end::ran);
    }
    EXPECT_EQ(readable.calls(), 1);
    EXPECT_EQ(due.calls(), 1);
    watch.remove();
}

TEST_P(PollsetHardCases, WhatAnotherTookWhileAWorkerLookedAtTheKernelIsNotTakenAgain) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    const int calls = 40'000;
    greedy watch(set, std::move(read), calls);
    watch.arm();
    write_all(write.get(), "x");
    const auto serve = [&] {
        for (const time_point end = soon(20s); watch.calls < calls && clock::now() < end;) {
            static_cast<void>(set.try_work());
        }
    };
    std::thread other(serve);
    std::thread third(serve);
    serve();
    other.join();
    third.join();
    EXPECT_EQ(watch.calls, calls);
    watch.remove();
}

TEST_P(PollsetHardCases, WhoGoesOnByItselfWakesNobody) {
    if (GetParam() == poll_strategy::epoll1) {
        GTEST_SKIP() << "runs one closure a turn, and hands over with each";
    }
    pollset set(domain());
    auto [read, write] = make_pipe();
    greedy watch(set, std::move(read), 100);
    watch.pause = 1ms;  // time for the other one to come and go back, if it were called
    watch.arm();
    const auto serve = [&] {
        const time_point end = soon();
        while (watch.calls != 100 && clock::now() < end) {
            static_cast<void>(set.work(end));
        }
        static_cast<void>(set.wake(1));
    };
    std::thread other(serve);
    while (domain().counters().waits == 0) {
        std::this_thread::yield();
    }
    write_all(write.get(), "x");
    serve();
    set.kick_any();
    other.join();
    EXPECT_EQ(watch.calls, 100);
    const poll_counters did = domain().counters();
    EXPECT_LT(did.thread_wakes + did.poller_wakes, 20U);
    watch.remove();
}

TEST_P(PollsetHardCases, AnOrphanIsDoneAfterWhatTheExecutorHasOfIt) {
    later executor;
    poll_domain elsewhere({.strategy = GetParam(), .executor = &executor});
    pollset set(elsewhere);
    auto [read, write] = make_pipe();
    held_handle handle(elsewhere, std::move(read));
    noted readable;
    noted writable;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    ASSERT_FALSE(handle->notify_on_write(writable));
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return executor.size() == 1; }));
    handle.orphan();
    EXPECT_EQ(executor.size(), 2U) << "both waits, and not yet the end";
    executor.run_first();
    EXPECT_EQ(executor.size(), 1U);
    executor.run_first();
    EXPECT_EQ(readable.calls(), 1);
    EXPECT_FALSE(readable.error());
    EXPECT_EQ(writable.error(), std::errc::operation_canceled);
    EXPECT_FALSE(handle.done());
    executor.run_all();
    EXPECT_TRUE(handle.done());
}

TEST_P(PollsetHardCases, AWatchIsRemovedAfterWhatTheExecutorHasOfIt) {
    later executor;
    poll_domain elsewhere({.strategy = GetParam(), .executor = &executor});
    pollset set(elsewhere);
    auto [read, write] = make_pipe();
    greedy watch(set, std::move(read));
    watch.arm();
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return executor.size() == 1; }));
    watch.remove();
    EXPECT_EQ(executor.size(), 1U) << "the handler that is about to be called, and not the end";
    executor.run_all();
    EXPECT_EQ(watch.calls, 0);
    EXPECT_EQ(watch.removals, 1);
}

TEST_P(PollsetHardCases, AChildThatShutsDownTakesNothingFromItsParent) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted readable;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    EXPECT_EQ(in_child([&] {
                  noted done;
                  set.shutdown(done);
                  return done.calls() == 1 && handle->fd() >= 0 && !handle->is_shut_down() ? 0 : 1;
              }),
              0);
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }, 2s));
}

TEST_P(PollsetHardCases, TheEndIsToldOnceWhateverItDoesWithTheHandle) {
    auto [read, write] = make_pipe();
    poll_handle handle(domain(), std::move(read));
    noted late;
    int ends = 0;
    callback done([&](std::error_code) {
        if (++ends == 1) {
            EXPECT_FALSE(handle.notify_on_read(late));
        }
    });
    handle.orphan(done);
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(late.error(), std::errc::operation_canceled);
}

TEST_P(PollsetHardCases, WhatTheEndOfAnOrphanThrowsLeavesThroughWork) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    poll_handle handle(domain(), std::move(read));
    callback done([](std::error_code) { throw std::runtime_error("the end"); });
    callback readable([&](std::error_code) { handle.orphan(done); });
    ASSERT_FALSE(set.add(handle));
    ASSERT_FALSE(handle.notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_THROW(static_cast<void>(set.work(soon())), std::runtime_error);
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
}

TEST_P(PollsetHardCases, AThreadMayEndInsideTheEndOfAnOrphan) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    poll_handle handle(domain(), std::move(read));
    callback done([](std::error_code) { ::pthread_exit(nullptr); });
    callback readable([&](std::error_code) { handle.orphan(done); });
    ASSERT_FALSE(set.add(handle));
    ASSERT_FALSE(handle.notify_on_read(readable));
    write_all(write.get(), "x");
    std::thread([&] {
        static_cast<void>(set.work(soon()));
        ADD_FAILURE() << "the thread has not ended";
    }).join();
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
}

TEST_P(PollsetHardCases, AClosureThatWaitsAlreadyIsRefusedAnywhereElse) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted both;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(both));
    EXPECT_EQ(handle->notify_on_error(both), std::errc::connection_already_in_progress);
    handle->make_ready(poll_event_kind::read);
    EXPECT_EQ(handle->notify_on_read(both), std::errc::connection_already_in_progress)
        << "it is due";
    settle(set);
    EXPECT_EQ(both.calls(), 1);
    ASSERT_FALSE(handle->notify_on_read(both));
    EXPECT_TRUE(handle->cancel(both));
    ASSERT_FALSE(handle->notify_on_error(both));
    EXPECT_TRUE(handle->cancel(both));
}

TEST_P(PollsetHardCases, ATimerOfThePastIsDueAtOnce) {
    pollset set(domain());
    for (const time_point when : {time_point::min(), time_point(), time_point(1ns)}) {
        noted due;
        pollset_timer timer(set, due);
        ASSERT_FALSE(timer.set_at(when));
        EXPECT_TRUE(until(set, [&] { return due.calls() == 1; }, 2s));
    }
}

TEST_P(PollsetHardCases, AllTimersAreToldOfTheShutdownAndNoOthers) {
    pollset set(domain());
    pollset other(domain());
    noted not_due;
    pollset_timer stays(other, not_due);
    ASSERT_FALSE(stays.set_after(1h));
    std::deque<noted> told(2000);
    std::deque<pollset_timer> timers;
    for (noted& each : told) {
        ASSERT_FALSE(timers.emplace_back(set, each).set_after(1h));
    }
    noted done;
    set.shutdown(done);
    EXPECT_EQ(done.calls(), 1);
    for (const noted& each : told) {
        EXPECT_EQ(each.error(), std::errc::operation_canceled);
    }
    EXPECT_EQ(not_due.calls(), 0);
    EXPECT_TRUE(stays.cancel());
}

TEST_P(PollsetHardCases, AClosureThatTwoThreadsHandInIsNotLost) {
    pollset set(domain());
    std::atomic<int> calls{0};
    callback told([&](std::error_code) { ++calls; });
    held_handle handle(domain(), unique_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)));
    ASSERT_FALSE(set.add(*handle));
    std::atomic<bool> over{false};
    const auto hand_in = [&] {
        while (!over) {
            static_cast<void>(handle->notify_on_read(told));  // or it waits already
        }
    };
    std::thread one(hand_in);
    std::thread another(hand_in);
    bool alive = true;
    for (std::uint64_t i = scaled(3'000); i != 0 && alive; --i) {
        const int before = calls;
        EXPECT_EQ(::eventfd_write(handle->fd(), 1), 0);
        alive = until(set, [&] { return calls != before; });
    }
    over = true;
    one.join();
    another.join();
    EXPECT_TRUE(alive);
}

EDDY_WITH_EVERY_STRATEGY(PollsetHardCases);

}  // namespace
}  // namespace eddy::test::hard_cases_test
