// SPDX-License-Identifier: Apache-2.0
// Which pollsets have an epoll set of their own with the strategy `domain`, and how they get there
// and back.
#include "kernel/call.hpp"
#include "support/pollset_fixture.hpp"

#include <cerrno>
#include <deque>
#include <vector>

namespace eddy::test::moving_test {
namespace {

/// Pollsets with one descriptor each. An epoll set has two: itself and what wakes it.
class Moving : public PollsetTest {
protected:
    struct served_set {
        explicit served_set(poll_domain& domain)
            : pipe(make_pipe()),
              fd(pipe.first.get()),
              handle(domain, std::move(pipe.first)),
              set(domain) {
            EXPECT_FALSE(set.add(*handle));
        }

        fd_pair pipe;
        int fd;
        held_handle handle;
        pollset set;
    };

    void SetUp() override {
        PollsetTest::SetUp();
        for (int i = 0; i != 3; ++i) {
            sets_.emplace_back(domain());
        }
        fds_ = open_fds();
    }
    void TearDown() override {
        kernel::fail_nothing();
        sets_.clear();
        PollsetTest::TearDown();
    }

    served_set& at(std::size_t i) { return sets_[i]; }
    std::size_t moved_out() const { return (open_fds() - fds_) / 2; }
    /// Threads are inside that serve what `of` holds.
    static bool serves(served_set& of) {
        noted readable;
        EXPECT_FALSE(of.handle->notify_on_read(readable));
        write_all(of.pipe.second.get(), "x");
        const bool came = comes([&] { return readable.calls() == 1; });
        recv_exactly(of.fd, 1);
        return came;
    }
    /// Threads in the first two: one polls for all, the other has moved out.
    struct pair_of_threads {
        explicit pair_of_threads(Moving& test) : first(test.at(0).set) {
            EXPECT_TRUE(test.waits());
            second.emplace(test.at(1).set);
            EXPECT_TRUE(comes([&] { return test.moved_out() == 1; }));
            static_cast<void>(test.domain().counters());  // takes the lock: it is all done
        }

        serving first;
        std::optional<serving> second;
    };

private:
    std::deque<served_set> sets_;
    std::size_t fds_ = 0;
};

TEST_P(Moving, ThreadsOfPollsetsThatShareNothingDoNotWakeEachOther) {
    const pair_of_threads threads(*this);
    for (int i = 0; i != 100; ++i) {
        ASSERT_TRUE(serves(at(0)));
        ASSERT_TRUE(serves(at(1)));
    }
    EXPECT_EQ(domain().counters().thread_wakes, 0U);
    EXPECT_EQ(moved_out(), 1U);
}

TEST_P(Moving, WhatIsAddedLaterIsWatchedThere) {
    const pair_of_threads threads(*this);
    ASSERT_FALSE(at(2).set.remove(*at(2).handle));
    ASSERT_FALSE(at(1).set.add(*at(2).handle));
    noted writable;
    ASSERT_FALSE(at(1).handle->notify_on_write(writable));  // asks the kernel for more
    EXPECT_TRUE(serves(at(2)));
    EXPECT_TRUE(serves(at(1)));
    EXPECT_TRUE(at(1).handle->cancel(writable)) << "the reading end of a pipe";
    ASSERT_FALSE(at(1).set.remove(*at(2).handle));
    EXPECT_TRUE(serves(at(1)));
    EXPECT_EQ(moved_out(), 1U);
}

TEST_P(Moving, ASharedFdBringsThemBackForGood) {
    std::optional<pair_of_threads> threads(*this);
    ASSERT_FALSE(at(0).set.add(*at(1).handle));
    EXPECT_TRUE(comes([&] { return moved_out() == 0; }));
    EXPECT_TRUE(serves(at(0)));
    EXPECT_TRUE(serves(at(1)));
    threads->second.reset();
    EXPECT_TRUE(serves(at(1))) << "the other pollset holds it too";
    ASSERT_FALSE(at(0).set.remove(*at(1).handle));
    threads->second.emplace(at(1).set);
    EXPECT_TRUE(serves(at(1)));
    EXPECT_TRUE(serves(at(0)));
    EXPECT_EQ(moved_out(), 0U);
}

TEST_P(Moving, BothThatWaitInTheKernelThereComeBack) {
    const pair_of_threads threads(*this);
    const auto before = domain().counters().waits;
    inside deputy(at(1).set);
    ASSERT_TRUE(waits(before)) << "beside the one that has moved out";
    ASSERT_FALSE(at(0).set.add(*at(1).handle));
    EXPECT_TRUE(comes([&] { return moved_out() == 0; })) << "none is left there";
    EXPECT_FALSE(at(1).set.kick(deputy.worker));
    EXPECT_EQ(deputy.join(), work_end::kicked);
    EXPECT_TRUE(serves(at(1)));
}

TEST_P(Moving, TheOneThatAnFdJoinsComesBackToo) {
    const pair_of_threads threads(*this);
    ASSERT_FALSE(at(1).set.add(*at(0).handle));
    EXPECT_TRUE(comes([&] { return moved_out() == 0; }));
    EXPECT_TRUE(serves(at(0)));
    EXPECT_TRUE(serves(at(1)));
}

TEST_P(Moving, NobodyMovesJustToLook) {
    const serving one(at(0).set);
    ASSERT_TRUE(waits());
    for (int i = 0; i != 10; ++i) {
        static_cast<void>(at(1).set.try_work());
    }
    EXPECT_EQ(moved_out(), 0U);
}

TEST_P(Moving, AClosedPollsetMakesRoom) {
    const serving one(at(0).set);
    ASSERT_TRUE(waits());
    for (int i = 0; i != 100; ++i) {
        served_set passing(domain());
        EXPECT_EQ(*passing.set.work(clock::now() + 1us), work_end::timed_out);
        EXPECT_EQ(moved_out(), 2U) << "its pipe and its epoll set, in round " << i;
    }
    EXPECT_EQ(moved_out(), 0U);
}

TEST_P(Moving, SixtyFourDoAndTheOthersAreServedAsWell) {
    std::deque<served_set> many;
    for (int i = 0; i != 70; ++i) {
        many.emplace_back(domain());
    }
    const std::size_t before = moved_out();
    {
        std::deque<serving> threads;
        for (served_set& each : many) {
            threads.emplace_back(each.set);
        }
        EXPECT_TRUE(comes([&] { return moved_out() - before == 64; }));
        for (served_set& each : many) {
            EXPECT_TRUE(serves(each));
        }
        EXPECT_EQ(moved_out() - before, 64U);
    }
}

TEST_P(Moving, IsLeftAtThatIfTheKernelRefuses) {
    const serving one(at(0).set);
    ASSERT_TRUE(waits());
    kernel::fail(kernel::call::epoll_create, EMFILE);
    EXPECT_EQ(*at(1).set.work(clock::now() + 1us), work_end::timed_out);
    EXPECT_EQ(moved_out(), 0U);
    kernel::fail(kernel::call::epoll_ctl, ENOSPC, 1);  // not what wakes it, but its fd
    EXPECT_EQ(*at(2).set.work(clock::now() + 1us), work_end::timed_out);
    EXPECT_EQ(moved_out(), 0U);
    const serving two(at(1).set);
    const serving three(at(2).set);
    for (std::size_t i = 0; i != 3; ++i) {
        EXPECT_TRUE(serves(at(i)));
    }
    EXPECT_LE(moved_out(), 1U) << "the first one may, but for the others it is not tried again";
}

TEST_P(Moving, BackThatTheKernelRefusesFailsTheAddAndLeavesAllAsItWas) {
    const pair_of_threads threads(*this);
    kernel::fail(kernel::call::epoll_ctl, ENOSPC);
    EXPECT_EQ(at(0).set.add(*at(1).handle), std::errc::no_space_on_device);
    kernel::fail(kernel::call::epoll_ctl, ENOSPC);
    EXPECT_EQ(at(1).set.add(*at(0).handle), std::errc::no_space_on_device);
    EXPECT_EQ(moved_out(), 1U);
    EXPECT_TRUE(serves(at(0)));
    EXPECT_TRUE(serves(at(1)));
    ASSERT_FALSE(at(1).set.add(*at(0).handle));
    EXPECT_TRUE(comes([&] { return moved_out() == 0; }));
    EXPECT_TRUE(serves(at(0)));
    EXPECT_TRUE(serves(at(1)));
}

TEST_P(Moving, ThereAndBackWhileEventsComeLosesNone) {
    for (int round = 0; round != 40; ++round) {
        served_set a(domain());
        served_set b(domain());
        served_set c(domain());
        noted of_a;
        noted of_b;
        noted of_c;
        for (auto [set, closure] : {std::pair(&a, &of_a), {&b, &of_b}, {&c, &of_c}}) {
            ASSERT_FALSE(set->handle->notify_on_read(*closure));
        }
        noted down;
        const serving in_a(a.set);
        const serving in_b(b.set);
        const serving in_b_too(b.set);
        const serving in_c(c.set);
        write_all(a.pipe.second.get(), "x");
        write_all(b.pipe.second.get(), "x");
        ASSERT_FALSE((round % 2 == 0 ? a : b).set.add(*(round % 2 == 0 ? b : a).handle));
        write_all(c.pipe.second.get(), "x");
        const auto all = [&] { return of_a.calls() + of_b.calls() + of_c.calls() == 3; };
        ASSERT_TRUE(comes(all)) << "in round " << round;
        b.set.shutdown(down);  // a kick each might reach one of the two twice
    }
}

INSTANTIATE_TEST_SUITE_P(Strategy, Moving, ::testing::Values(poll_strategy::domain), strategy_name);

}  // namespace
}  // namespace eddy::test::moving_test
