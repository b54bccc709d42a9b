// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eddy::test::pollset_work_test {
namespace {

/// A closure that stays inside until it is let go.
struct blocking : closure {
    blocking() noexcept
        : closure([](closure& self, std::error_code) {
              auto& me = static_cast<blocking&>(self);
              me.entered = true;
              for (const time_point end = clock::now() + patience; !me.leave;) {
                  ASSERT_LT(clock::now(), end);
                  std::this_thread::sleep_for(50us);
              }
          }) {}
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};
};

class PollsetWork : public PollsetTest {};

TEST_P(PollsetWork, ReturnsAtItsDeadlineAndNotBefore) {
    pollset set(domain());
    const time_point deadline = clock::now() + 20ms;
    EXPECT_EQ(*set.work(deadline), work_end::timed_out);
    EXPECT_GE(clock::now(), deadline);
}

TEST_P(PollsetWork, AKickMakesTheWorkerReturn) {
    pollset set(domain());
    inside one(set);
    {
        const auto lock = one.once_inside();
        EXPECT_FALSE(set.kick(one.worker));
    }
    EXPECT_EQ(one.join(), work_end::kicked);
    EXPECT_EQ(set.kick(one.worker), std::errc::no_such_process) << "it has left";
}

TEST_P(PollsetWork, AKickFreesJustTheWorkerThatIsMeant) {
    pollset set(domain());
    inside first(set);
    inside second(set);
    {
        const auto lock = second.once_inside();
        EXPECT_FALSE(set.kick(second.worker));
    }
    EXPECT_EQ(second.join(), work_end::kicked);
    {
        const auto lock = first.once_inside();
        EXPECT_FALSE(set.kick(first.worker)) << "it is still inside";
    }
    EXPECT_EQ(first.join(), work_end::kicked);
}

TEST_P(PollsetWork, WhoOnlyLooksDoesNotWaitForTheOneThatPolls) {
    pollset set(domain());
    inside one(set);
    const time_point end = soon();
    while (domain().counters().waits == 0 && clock::now() < end) {
        std::this_thread::sleep_for(50us);
    }
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(domain().counters().sleeps, 0U);
    set.kick_any();
    EXPECT_EQ(one.join(), work_end::kicked);
}

TEST_P(PollsetWork, AKickWithNobodyInsideStays) {
    pollset set(domain());
    set.kick_any();
    EXPECT_EQ(*set.work(soon()), work_end::kicked);
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
}

TEST_P(PollsetWork, AWorkerCanKickItself) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    pollset_worker me;
    callback readable([&](std::error_code) { EXPECT_FALSE(set.kick(me)); });
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    std::mutex mutex;
    std::unique_lock lock(mutex);
    EXPECT_EQ(*set.work(lock, me, soon()), work_end::ran);
    EXPECT_EQ(*set.work(lock, me, time_point::min()), work_end::timed_out) << "a kick is for once";
}

TEST_P(PollsetWork, WakesAsManyAsAskedFor) {
    pollset set(domain());
    inside first(set);
    inside second(set);
    inside third(set);
    for (auto* one : {&first, &second, &third}) {
        const auto lock = one->once_inside();
    }
    EXPECT_EQ(set.wake(2), 2U);
    EXPECT_EQ(set.wake(5), 1U) << "the others were kicked already";
    EXPECT_EQ(first.join(), work_end::kicked);
    EXPECT_EQ(second.join(), work_end::kicked);
    EXPECT_EQ(third.join(), work_end::kicked);
    EXPECT_EQ(set.wake(1), 0U);
    EXPECT_EQ(*set.try_work(), work_end::timed_out) << "wake() does not stay";
}

TEST_P(PollsetWork, AKickOfOnePollsetLeavesAnotherAlone) {
    pollset here(domain());
    pollset there(domain());
    inside one(here);
    inside other(there);
    for (auto* each : {&one, &other}) {
        const auto lock = each->once_inside();
    }
    here.kick_any();
    EXPECT_EQ(one.join(), work_end::kicked);
    there.kick_any();
    EXPECT_EQ(other.join(), work_end::kicked);
}

TEST_P(PollsetWork, ShutdownWaitsForTheWorkers) {
    pollset set(domain());
    inside one(set);
    inside other(set);
    for (auto* each : {&one, &other}) {
        const auto lock = each->once_inside();
    }
    noted done;
    set.shutdown(done);
    EXPECT_EQ(one.join(), work_end::shut_down);
    EXPECT_EQ(other.join(), work_end::shut_down);
    EXPECT_EQ(done.calls(), 1);
    EXPECT_EQ(*set.work(soon()), work_end::shut_down);
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    EXPECT_EQ(set.add(*handle), std::errc::operation_canceled);
}

TEST_P(PollsetWork, ShutdownWithNobodyInsideIsDoneAtOnce) {
    pollset set(domain());
    noted done;
    set.shutdown(done);
    EXPECT_EQ(done.calls(), 1);
}

TEST_P(PollsetWork, AnEventOfAnotherPollsetIsRunThere) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset here(domain());
    pollset there(domain());
    ASSERT_FALSE(there.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_EQ(*here.work(clock::now() + 10ms), work_end::timed_out);
    EXPECT_EQ(readable.calls(), 0);
    EXPECT_EQ(*there.work(soon()), work_end::ran);
    EXPECT_EQ(readable.calls(), 1);
}

TEST_P(PollsetWork, LookingDoesNotWaitBehindAThreadThatWaits) {
    pollset set(domain());
    inside one(set, clock::now() + 1h);
    while (domain().counters().waits == 0) {
        std::this_thread::yield();
    }
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    set.kick_any();
    EXPECT_EQ(one.join(), work_end::kicked);
}

TEST_P(PollsetWork, AnExceptionLeavesWithTheLockHeld) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    callback readable([](std::error_code) { throw std::runtime_error("out"); });
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    std::mutex mutex;
    std::unique_lock lock(mutex);
    pollset_worker me;
    EXPECT_THROW(static_cast<void>(set.work(lock, me, soon())), std::runtime_error);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(set.kick(me), std::errc::no_such_process);
    EXPECT_EQ(*set.work(lock, me, time_point::min()), work_end::timed_out);
}

TEST_P(PollsetWork, AThreadMayEndInsideAClosure) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    callback last([](std::error_code) { ::pthread_exit(nullptr); });
    ASSERT_FALSE(handle->notify_on_read(last));
    write_all(write.get(), "x");
    std::thread([&] { static_cast<void>(set.work(soon())); }).join();
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    handle->make_ready(poll_event_kind::read);
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
}

TEST_P(PollsetWork, AWorkerThatIsInsideCannotEnterAgain) {
    pollset set(domain());
    inside one(set);
    {
        const auto lock = one.once_inside();
        std::mutex mutex;
        std::unique_lock own(mutex);
        EXPECT_EQ(set.work(own, one.worker, soon()).error(), std::errc::invalid_argument);
        EXPECT_FALSE(set.kick(one.worker));
    }
    EXPECT_EQ(one.join(), work_end::kicked);
}

TEST_P(PollsetWork, WhileAHandlerBlocksTheOthersAreServed) {
    auto [slow_read, slow_write] = make_pipe();
    auto [quick_read, quick_write] = make_pipe();
    held_handle slow(domain(), std::move(slow_read));
    held_handle quick(domain(), std::move(quick_read));
    pollset set(domain());
    ASSERT_FALSE(set.add(*slow));
    ASSERT_FALSE(set.add(*quick));
    noted on_quick;
    // It ends only when the other one has run, so a stranded event would never be seen.
    callback on_slow([&](std::error_code) {
        write_all(quick_write.get(), "x");
        for (const time_point end = soon(); on_quick.calls() == 0 && clock::now() < end;) {
            std::this_thread::yield();
        }
        EXPECT_EQ(on_quick.calls(), 1);
    });
    ASSERT_FALSE(slow->notify_on_read(on_slow));
    ASSERT_FALSE(quick->notify_on_read(on_quick));
    write_all(slow_write.get(), "x");
    std::vector<std::thread> threads;
    for (int i = 0; i != 2; ++i) {
        threads.emplace_back([&] { EXPECT_EQ(*set.work(soon()), work_end::ran); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_P(PollsetWork, AnExecutorGetsTheClosures) {
    struct collector final : closure_executor {
        void execute(closure& c) override { got.push_back(&c); }
        std::vector<closure*> got;
    } collected;
    poll_domain with_executor({.strategy = GetParam(), .executor = &collected});
    auto [read, write] = make_pipe();
    poll_handle handle(with_executor, std::move(read));
    pollset set(with_executor);
    ASSERT_FALSE(set.add(handle));
    noted readable;
    noted done;
    ASSERT_FALSE(handle.notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(readable.calls(), 0);
    handle.orphan(done);
    ASSERT_EQ(collected.got.size(), 1U);
    collected.got[0]->run();
    EXPECT_EQ(readable.calls(), 1);
    ASSERT_EQ(collected.got.size(), 2U) << "the end, after what was there before it";
    collected.got[1]->run();
    EXPECT_EQ(done.calls(), 1);
}

TEST_P(PollsetWork, AShutdownIsDoneWhenTheLastWorkerHasLeftItsClosure) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    blocking closure;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(closure));
    inside one(set);
    write_all(write.get(), "x");
    ASSERT_TRUE(comes([&] { return closure.entered.load(); }));
    noted done;
    set.shutdown(done);
    EXPECT_EQ(done.calls(), 0) << "a thread is inside";
    closure.leave = true;
    EXPECT_EQ(one.join(), work_end::ran);
    EXPECT_EQ(done.calls(), 1);
}

/// The documentation of kick() names the price of each case, and callers kick often: only a worker
/// in the kernel may cost a write.
TEST_P(PollsetWork, AKickWritesAnEventfdForAThreadInTheKernelOnly) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    blocking closure;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(closure));
    inside running(set);
    write_all(write.get(), "x");
    ASSERT_TRUE(comes([&] { return closure.entered.load(); }));
    EXPECT_FALSE(set.kick(running.worker));
    EXPECT_EQ(domain().counters().poller_wakes, 0U) << "it runs a closure";

    const auto before = domain().counters().waits;
    inside polling(set);
    ASSERT_TRUE(waits(before));
    std::optional<inside> deputy;
    if (GetParam() == poll_strategy::domain) {
        deputy.emplace(set);
        ASSERT_TRUE(waits(before + 1));
    }
    inside sleeping(set);
    {
        const auto lock = sleeping.once_inside();
        EXPECT_FALSE(set.kick(sleeping.worker));
    }
    EXPECT_EQ(sleeping.join(), work_end::kicked);
    EXPECT_EQ(domain().counters().poller_wakes, 0U) << "it waited for its turn";

    EXPECT_FALSE(set.kick(polling.worker));
    EXPECT_EQ(polling.join(), work_end::kicked);
    // The deputy may have come out for that, and passed it on.
    EXPECT_GE(domain().counters().poller_wakes, 1U);
    EXPECT_LE(domain().counters().poller_wakes, deputy ? 2U : 1U);
    if (deputy) {
        EXPECT_FALSE(set.kick(deputy->worker));
        EXPECT_EQ(deputy->join(), work_end::kicked);
    }
    const auto wakes = domain().counters().poller_wakes;
    closure.leave = true;
    EXPECT_EQ(running.join(), work_end::ran);
    EXPECT_EQ(domain().counters().poller_wakes, wakes);
}

EDDY_WITH_EVERY_STRATEGY(PollsetWork);

}  // namespace
}  // namespace eddy::test::pollset_work_test
