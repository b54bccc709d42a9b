// SPDX-License-Identifier: Apache-2.0
// Closures that take little are left to one worker, with the strategy `domain`; what is asked of
// all strategies here holds whether they do that or not.
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <eddy/pollset/detail/pace.hpp>

#include <cerrno>
#include <deque>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

namespace eddy::test::sentry_test {
namespace {

TEST(Pace, IsBriskWhileMuchIsRunInLittleTime) {
    detail::pace pace;
    time_point now = clock::now();
    EXPECT_FALSE(pace.is_brisk(now)) << "nothing was run";
    for (int i = 0; i != 100; ++i) {
        pace.ran_one();
    }
    EXPECT_FALSE(pace.is_brisk(now + detail::pace::window / 2)) << "too early to say";
    EXPECT_TRUE(pace.is_brisk(now += detail::pace::window));
    EXPECT_TRUE(pace.is_brisk(now + detail::pace::window / 2)) << "too early to say";
    EXPECT_FALSE(pace.is_brisk(now += detail::pace::window)) << "nothing was run since";
    pace.ran_one();
    EXPECT_FALSE(pace.is_brisk(now += detail::pace::window)) << "one took all that time";
}

TEST(Pace, ALongRestIsNotBrisk) {
    detail::pace pace;
    time_point now = clock::now();
    EXPECT_FALSE(pace.is_brisk(now));
    for (int i = 0; i != 100; ++i) {
        pace.ran_one();
    }
    EXPECT_FALSE(pace.is_brisk(now += 1s));
}

/// Hence a sentry, which asks once per 0.1 ms, sees after two of these that nothing is run any
/// more.
TEST(Pace, IsBriskOnceAtMostAfterTheLastWasRun) {
    static_assert(detail::pace::window == 100us, "what the header of poll_domain says");
    random_numbers random;
    for (int round = 0; round != 1'000; ++round) {
        detail::pace pace;
        time_point now = clock::now();
        static_cast<void>(pace.is_brisk(now));
        for (std::uint64_t looks = 1 + random.below(3); looks != 0; --looks) {
            for (std::uint64_t runs = random.below(300); runs != 0; --runs) {
                pace.ran_one();
            }
            now += std::chrono::nanoseconds(random.below(150'000));
            static_cast<void>(pace.is_brisk(now));
        }
        for (std::uint64_t runs = random.below(300); runs != 0; --runs) {
            pace.ran_one();
        }
        static_cast<void>(pace.is_brisk(now += detail::pace::window));
        EXPECT_FALSE(pace.is_brisk(now += detail::pace::window));
    }
}

/// Handles that keep themselves busy: each event makes the next one.
class Sentry : public PollsetTest {
protected:
    class busy final : public closure {
    public:
        busy(poll_domain& domain, std::atomic<std::uint64_t>& calls)
            : closure([](closure& self, std::error_code error) {
                  if (!error) {
                      static_cast<busy&>(self).happened();
                  }
              }),
              calls_(calls),
              fd_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)),
              handle_(domain, unique_fd(::dup(fd_.get()))) {
            arm();
        }
        poll_handle& handle() { return *handle_; }

    private:
        void arm() { EXPECT_FALSE(handle_->notify_on_read(*this)); }
        void happened() {
            std::uint64_t count = 0;
            if (::read(fd_.get(), &count, sizeof count) < 0) {
                // One write was told twice, to two threads, and the other has had it.
                EXPECT_EQ(errno, EAGAIN);
                arm();
                return;
            }
            const int fd = fd_.get();
            calls_.fetch_add(1);
            arm();  // from here on another thread may have the next one
            const std::uint64_t one = 1;
            EXPECT_EQ(::write(fd, &one, sizeof one), ssize_t{sizeof one});
        }

        std::atomic<std::uint64_t>& calls_;
        unique_fd fd_;
        held_handle handle_;
    };

    void SetUp() override {
        PollsetTest::SetUp();
        set_.emplace(domain());
        for (int i = 0; i != 4; ++i) {
            ASSERT_FALSE(set_->add(busy_.emplace_back(domain(), calls_).handle()));
        }
    }
    void TearDown() override {
        for (busy& one : busy_) {
            ASSERT_FALSE(set_->remove(one.handle()));
        }
        busy_.clear();
        set_.reset();
        PollsetTest::TearDown();
    }

    pollset& set() { return *set_; }
    /// So many more closures are called by somebody.
    bool goes_on(std::uint64_t more) {
        return comes([&, end = calls_ + more] { return calls_ >= end; });
    }

private:
    std::atomic<std::uint64_t> calls_{0};
    std::optional<pollset> set_;
    std::deque<busy> busy_;
};

TEST_P(Sentry, OthersAreServedWhenABriskOneBlocks) {
    const serving first(set());
    const serving second(set());
    const serving third(set());
    for (int round = 0; round != 10; ++round) {
        ASSERT_TRUE(goes_on(2'000));
        auto [read, write] = make_pipe();
        held_handle slow(domain(), std::move(read));
        bool others_went_on = false;
        std::atomic<bool> returned{false};
        callback blocks([&](std::error_code) {
            others_went_on = goes_on(200);
            returned = true;
        });
        ASSERT_FALSE(slow->notify_on_read(blocks));
        ASSERT_FALSE(set().add(*slow));
        write_all(write.get(), "x");
        ASSERT_TRUE(comes([&] { return returned.load(); }));
        EXPECT_TRUE(others_went_on) << "round " << round;
    }
}

TEST_P(Sentry, OthersGoOnWhenTheOneThatRanThemAllLeaves) {
    const serving stays(set());
    for (int round = 0; round != 10; ++round) {
        {
            const serving leaves(set());
            const serving leaves_too(set());
            ASSERT_TRUE(goes_on(2'000));
        }
        ASSERT_TRUE(goes_on(200)) << "round " << round;
    }
}

TEST_P(Sentry, AnotherPollsetAtTheSamePlaceIsServedMeanwhile) {
    pollset other(domain());
    fd_pair pipe = make_pipe();
    const int fd = pipe.first.get();
    held_handle shared(domain(), std::move(pipe.first));  // holds both at one station
    ASSERT_FALSE(set().add(*shared));
    ASSERT_FALSE(other.add(*shared));
    const serving first(set());
    const serving second(set());
    const serving elsewhere(other);
    for (int round = 0; round != 10; ++round) {
        ASSERT_TRUE(goes_on(2'000));
        auto [read, write] = make_pipe();
        held_handle own(domain(), std::move(read));
        noted readable;
        ASSERT_FALSE(own->notify_on_read(readable));
        ASSERT_FALSE(other.add(*own));
        write_all(write.get(), "x");
        EXPECT_TRUE(comes([&] { return readable.calls() == 1; })) << "round " << round;
        noted both;
        ASSERT_FALSE(shared->notify_on_read(both));
        write_all(pipe.second.get(), "x");
        EXPECT_TRUE(comes([&] { return both.calls() == 1; })) << "round " << round;
        recv_exactly(fd, 1);
    }
}

TEST_P(Sentry, KicksFetchWhoeverIsMeant) {
    const serving goes_on_all_the_time(set());
    for (int round = 0; round != 100; ++round) {
        ASSERT_TRUE(goes_on(200));
        inside kicked(set());

        {
            const auto lock = kicked.once_inside();
            static_cast<void>(set().kick(kicked.worker));  // it may have run something and left
        }
        const work_end end = kicked.join();
        EXPECT_TRUE(end == work_end::kicked || end == work_end::ran) << to_string(end);
    }
    EXPECT_TRUE(goes_on(200));
}

TEST_P(Sentry, ReturnsAtItsOwnTime) {
    const serving runs_all(set());
    for (int round = 0; round != 20; ++round) {
        ASSERT_TRUE(goes_on(200));
        inside hasty(set(), soon(2ms));
        const work_end end = hasty.join();
        EXPECT_TRUE(end == work_end::timed_out || end == work_end::ran) << to_string(end);
    }
}

TEST_P(Sentry, AShutdownFetchesAll) {
    pollset ends(domain());
    std::atomic<std::uint64_t> calls{0};
    busy one(domain(), calls);
    ASSERT_FALSE(ends.add(one.handle()));
    std::vector<std::thread> threads;
    for (int i = 0; i != 3; ++i) {
        threads.emplace_back([&] {
            while (*ends.work(soon()) != work_end::shut_down) {}
        });
    }
    ASSERT_TRUE(comes([&] { return calls >= 2'000; }));
    noted down;
    ends.shutdown(down);
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(down.calls(), 1);
}

EDDY_WITH_EVERY_STRATEGY(Sentry);

}  // namespace
}  // namespace eddy::test::sentry_test
