// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"

#include <memory>
#include <stdexcept>
#include <thread>

// An event that comes alone does not pass through the queue, and is called as if it did.

namespace eddy::test::lone_event_test {
namespace {

class LoneEvent : public PollsetTest {};

TEST_P(LoneEvent, OfAClosureThatWasToldAnErrorBeforeHasNone) {
    auto [closed_end, unused] = make_pipe();
    auto [read_end, write_end] = make_pipe();
    held_handle first(domain(), std::move(closed_end));
    held_handle second(domain(), std::move(read_end));
    pollset set(domain());
    ASSERT_FALSE(set.add(*first));
    ASSERT_FALSE(set.add(*second));
    noted told;
    ASSERT_FALSE(first->notify_on_read(told));
    first->shutdown(std::make_error_code(std::errc::broken_pipe));
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(told.error(), std::errc::broken_pipe);

    ASSERT_FALSE(second->notify_on_read(told));
    write_all(write_end.get(), "x");
    const std::uint64_t events_before = domain().counters().events;
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(told.calls(), 2);
    EXPECT_FALSE(told.error());
    EXPECT_EQ(domain().counters().events, events_before + 1);
}

TEST_P(LoneEvent, WhoseClosureThrowsLeavesAllAsItWas) {
    auto [read_end, write_end] = make_pipe();
    held_handle handle(domain(), std::move(read_end));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    callback throws([](std::error_code) { throw std::runtime_error("thrown by a closure"); });
    ASSERT_FALSE(handle->notify_on_read(throws));
    write_all(write_end.get(), "x");
    EXPECT_THROW(static_cast<void>(set.work(soon())), std::runtime_error);

    noted again;
    ASSERT_FALSE(handle->notify_on_read(again));
    write_all(write_end.get(), "y");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(again.calls(), 1);
}

TEST_P(LoneEvent, MayEndItsHandleAndWorkInsideItsClosure) {
    auto [read_end, write_end] = make_pipe();
    auto [other_end, other_write_end] = make_pipe();
    auto ends = std::make_unique<poll_handle>(domain(), std::move(read_end));
    held_handle other(domain(), std::move(other_end));
    pollset set(domain());
    ASSERT_FALSE(set.add(*ends));
    ASSERT_FALSE(set.add(*other));
    int ended = 0;
    callback end([&](std::error_code) {
        ++ended;
        ends.reset();
    });
    noted inner;
    callback outer([&](std::error_code) {
        ends->orphan(end);
        EXPECT_EQ(ended, 0) << "it is being called";
        EXPECT_FALSE(other->notify_on_read(inner));
        write_all(other_write_end.get(), "x");
        EXPECT_EQ(*set.work(soon()), work_end::ran);
        EXPECT_EQ(inner.calls(), 1);
    });
    ASSERT_FALSE(ends->notify_on_read(outer));
    write_all(write_end.get(), "x");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
}

TEST_P(LoneEvent, MayBeginTheFirstOtherThread) {
    auto [read_end, write_end] = make_pipe();
    auto [other_end, other_write_end] = make_pipe();
    held_handle handle(domain(), std::move(read_end));
    held_handle other(domain(), std::move(other_end));
    pollset set(domain());
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(set.add(*other));
    noted inner;
    std::thread second;
    callback outer([&](std::error_code) {
        EXPECT_FALSE(other->notify_on_read(inner));
        second = std::thread([&] {
            EXPECT_EQ(other->notify_on_read(inner), std::errc::connection_already_in_progress);
            write_all(other_write_end.get(), "x");
        });
    });
    ASSERT_FALSE(handle->notify_on_read(outer));
    write_all(write_end.get(), "x");
    EXPECT_EQ(*set.work(soon()), work_end::ran);
    EXPECT_TRUE(until(set, [&] { return inner.calls() == 1; }));
    second.join();
}

EDDY_WITH_EVERY_STRATEGY(LoneEvent);

}  // namespace
}  // namespace eddy::test::lone_event_test
