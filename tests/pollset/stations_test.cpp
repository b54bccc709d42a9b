// SPDX-License-Identifier: Apache-2.0
// What changes while a worker waits in the kernel, and which pollsets share an epoll set.
#include "kernel/call.hpp"
#include "support/pollset_fixture.hpp"

#include <cerrno>
#include <deque>
#include <thread>
#include <vector>

#include <sys/socket.h>

namespace eddy::test::stations_test {
namespace {

using Stations = PollsetTest;

TEST_P(Stations, WhoWaitsLearnsOfAnAddAnArmingAndARemoval) {
    pollset set(domain());
    const serving worker(set);
    ASSERT_TRUE(waits());
    for (int round = 0; round != 20; ++round) {
        auto [near, far] = unix_stream_pair();
        held_handle handle(domain(), std::move(near));
        ASSERT_FALSE(set.add(*handle));
        noted readable;
        ASSERT_FALSE(handle->notify_on_read(readable));
        send_all(far.get(), "x");
        ASSERT_TRUE(comes([&] { return readable.calls() == 1; })) << "in round " << round;
        noted writable;
        ASSERT_FALSE(handle->notify_on_write(writable));
        ASSERT_TRUE(comes([&] { return writable.calls() == 1; })) << "in round " << round;
        noted in_vain;
        ASSERT_FALSE(handle->notify_on_write(in_vain));
        if (!handle->cancel(in_vain)) {  // where events last, the worker may have been quicker
            ASSERT_TRUE(comes([&] { return in_vain.calls() == 1; })) << "in round " << round;
        }
        ASSERT_FALSE(set.remove(*handle));
    }
}

TEST_P(Stations, AnOrphanIsReallyClosedWhileAThreadWaits) {
    pollset set(domain());
    const serving worker(set);
    auto [near, far] = unix_stream_pair();
    held_handle handle(domain(), std::move(near));
    ASSERT_FALSE(set.add(*handle));
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    ASSERT_TRUE(waits());
    handle.orphan();
    EXPECT_EQ(read_to_end(far.get()), "") << "a wait that goes on would hold the file";
    EXPECT_TRUE(comes([&] { return readable.calls() == 1; }));
}

TEST_P(Stations, WhatNobodyWaitsForDoesNotSpin) {
    pollset set(domain());
    auto [near, far] = unix_stream_pair();
    held_handle handle(domain(), std::move(near));
    ASSERT_FALSE(set.add(*handle));
    send_all(far.get(), "x");
    far.reset();
    noted error;
    ASSERT_FALSE(handle->notify_on_error(error));
    static_cast<void>(set.work(clock::now() + 20ms));
    const auto before = domain().counters().waits;
    EXPECT_EQ(*set.work(clock::now() + 20ms), work_end::timed_out);
    EXPECT_LT(domain().counters().waits - before, 10U);
}

TEST_P(Stations, AnEventOfAKickedWorkerIsSeenByTheOthers) {
    auto [read, write] = make_pipe();
    const int fd = read.get();
    held_handle handle(domain(), std::move(read));
    pollset here(domain());
    pollset there(domain());
    ASSERT_FALSE(here.add(*handle));
    ASSERT_FALSE(there.add(*handle));
    // Kicked while it comes out with the event: it leaves without running anything.
    for (int round = 1; round <= 100; ++round) {
        noted readable;
        ASSERT_FALSE(handle->notify_on_read(readable));
        inside one(here);
        static_cast<void>(one.once_inside());
        static_cast<void>(domain().counters());  // takes the lock: it waits now
        inside other(there);
        static_cast<void>(other.once_inside());
        static_cast<void>(domain().counters());
        write_all(write.get(), "x");
        here.kick_any();
        one.join();
        const bool seen = comes([&] { return readable.calls() == 1; });
        there.kick_any();
        other.join();
        ASSERT_TRUE(seen) << "in round " << round;
        for (pollset* set : {&here, &there}) {
            static_cast<void>(set->try_work());  // a kick that came too late
        }
        recv_exactly(fd, 1);
    }
}

TEST_P(Stations, AreLeftBehindByAPollsetThatChangesUnderItsWorkers) {
    // From nothing to one fd, to two and back, while a thread of this and one of another pollset
    // are inside: both are always where they have to be.
    pollset changing(domain());
    pollset steady(domain());
    auto [read, write] = make_pipe();
    auto [other_read, other_write] = make_pipe();
    held_handle both(domain(), std::move(read));
    held_handle extra(domain(), std::move(other_read));
    ASSERT_FALSE(steady.add(*both));
    const serving one(changing);
    const serving two(steady);
    for (int round = 1; round <= 200; ++round) {
        noted readable;
        noted of_extra;
        ASSERT_FALSE(changing.add(round % 2 == 0 ? *both : *extra));
        ASSERT_FALSE(changing.add(round % 2 == 0 ? *extra : *both));
        ASSERT_FALSE(both->notify_on_read(readable));
        ASSERT_FALSE(extra->notify_on_read(of_extra));
        write_all(write.get(), "x");
        write_all(other_write.get(), "x");
        ASSERT_TRUE(comes([&] { return readable.calls() == 1; })) << "in round " << round;
        ASSERT_TRUE(comes([&] { return of_extra.calls() == 1; })) << "in round " << round;
        ASSERT_FALSE(changing.remove(round % 3 == 0 ? *both : *extra));
        ASSERT_FALSE(changing.remove(round % 3 == 0 ? *extra : *both));
    }
}

TEST_P(Stations, ARemovalTakesEffectWhileAWorkerIsInTheKernel) {
    pollset set(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    noted readable;
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(handle->notify_on_read(readable));
    inside one(set);
    ASSERT_TRUE(comes([&] { return domain().counters().waits != 0; }));
    const auto before = domain().counters().waits;
    ASSERT_FALSE(set.remove(*handle));
    if (GetParam() == poll_strategy::poll) {
        ASSERT_TRUE(comes([&] { return domain().counters().waits != before; }))
            << "it was not called out";
    }
    write_all(write.get(), "x");
    set.kick_any();
    EXPECT_EQ(one.join(), work_end::kicked);
    EXPECT_EQ(domain().counters().events, 0U);
    EXPECT_EQ(readable.calls(), 0);
}

EDDY_WITH_EVERY_STRATEGY(Stations);

/// What epollex makes is counted in descriptors: an epoll set has two, itself and what wakes it.
class Pollables : public PollsetTest {
protected:
    static constexpr std::size_t fds_each = 2;

    void SetUp() override {
        PollsetTest::SetUp();
        for (int i = 0; i != 3; ++i) {
            auto [read, write] = make_pipe();
            handles_.emplace_back(domain(), std::move(read));
            ends_.push_back(std::move(write));
        }
        fds_ = open_fds();
    }
    void TearDown() override {
        kernel::fail_nothing();
        handles_.clear();
        ends_.clear();
        PollsetTest::TearDown();
    }

    poll_handle& handle(std::size_t i) { return *handles_[i]; }
    std::size_t pollables() const { return (open_fds() - fds_) / fds_each; }
    bool serves(pollset& set, std::size_t i) {
        noted readable;
        EXPECT_FALSE(handle(i).notify_on_read(readable));
        write_all(ends_[i].get(), "x");
        const bool served = until(set, [&] { return readable.calls() == 1; });
        recv_exactly(handle(i).fd(), 1);
        return served;
    }

private:
    std::deque<held_handle> handles_;
    std::vector<unique_fd> ends_;
    std::size_t fds_ = 0;
};

TEST_P(Pollables, OfPollsetsThatAreEmptyIsOne) {
    std::deque<pollset> sets;
    for (int i = 0; i != 10; ++i) {
        sets.emplace_back(domain());
    }
    EXPECT_EQ(pollables(), 0U) << "it came with the domain";
}

TEST_P(Pollables, OfOneFdIsSharedAndGoesWithTheLastPollset) {
    std::deque<pollset> sets;
    for (int i = 0; i != 10; ++i) {
        ASSERT_FALSE(sets.emplace_back(domain()).add(handle(0)));
        EXPECT_EQ(pollables(), 1U);
    }
    for (pollset& set : sets) {
        EXPECT_TRUE(serves(set, 0));
    }
    while (!sets.empty()) {
        EXPECT_EQ(pollables(), 1U);
        sets.pop_back();
    }
    EXPECT_EQ(pollables(), 0U);
}

TEST_P(Pollables, OfSeveralFdsBelongToOnePollset) {
    pollset first(domain());
    pollset second(domain());
    for (pollset* set : {&first, &second}) {
        ASSERT_FALSE(set->add(handle(0)));
        ASSERT_FALSE(set->add(handle(1)));
    }
    EXPECT_EQ(pollables(), 2U) << "though they hold the same";
    ASSERT_FALSE(first.add(handle(2)));
    EXPECT_EQ(pollables(), 2U);
    for (std::size_t i = 0; i != 3; ++i) {
        EXPECT_TRUE(serves(first, i));
    }
    ASSERT_FALSE(first.remove(handle(2)));
    ASSERT_FALSE(first.remove(handle(1)));
    EXPECT_EQ(pollables(), 2U) << "one of an fd, one of the other pollset";
    ASSERT_FALSE(second.remove(handle(1)));
    EXPECT_EQ(pollables(), 1U) << "both hold the same one fd again";
    EXPECT_TRUE(serves(first, 0));
    EXPECT_TRUE(serves(second, 0));
}

TEST_P(Pollables, AnFdIsInAnyNumberOfThem) {
    pollset alone(domain());
    pollset with_second(domain());
    pollset with_third(domain());
    ASSERT_FALSE(alone.add(handle(0)));
    ASSERT_FALSE(with_second.add(handle(0)));
    ASSERT_FALSE(with_second.add(handle(1)));
    ASSERT_FALSE(with_third.add(handle(2)));
    ASSERT_FALSE(with_third.add(handle(0)));
    EXPECT_EQ(pollables(), 3U);
    for (pollset* set : {&alone, &with_second, &with_third}) {
        EXPECT_TRUE(serves(*set, 0));
    }
    EXPECT_TRUE(serves(with_third, 2));
}

TEST_P(Pollables, ThatCannotBeMadeLeaveThePollsetAsItWas) {
    pollset set(domain());
    kernel::fail(kernel::call::epoll_create, EMFILE);
    EXPECT_EQ(set.add(handle(0)), std::errc::too_many_files_open);
    ASSERT_FALSE(set.add(handle(0)));
    kernel::fail(kernel::call::epoll_create, EMFILE);
    EXPECT_EQ(set.add(handle(1)), std::errc::too_many_files_open);
    for (const unsigned skip : {1U, 2U}) {  // the eventfd that wakes, then one fd and the other
        kernel::fail(kernel::call::epoll_ctl, ENOSPC, skip);
        EXPECT_EQ(set.add(handle(1)), std::errc::no_space_on_device);
    }
    EXPECT_TRUE(serves(set, 0));
    ASSERT_FALSE(set.add(handle(1)));
    kernel::fail(kernel::call::epoll_create, EMFILE);
    EXPECT_FALSE(set.remove(handle(1))) << "a removal does not fail";
    EXPECT_TRUE(serves(set, 0));
    EXPECT_EQ(pollables(), 1U);
    ASSERT_FALSE(set.add(handle(1)));
    EXPECT_TRUE(serves(set, 1));
    EXPECT_EQ(pollables(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Strategy, Pollables, ::testing::Values(poll_strategy::epollex),
                         strategy_name);

}  // namespace
}  // namespace eddy::test::stations_test
