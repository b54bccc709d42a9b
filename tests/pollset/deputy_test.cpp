// SPDX-License-Identifier: Apache-2.0
// Two workers of a pollset in the kernel at once, which is what the strategy `domain` has; what is
// asked of all strategies here holds whether they have that or not.
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <array>
#include <optional>
#include <thread>
#include <vector>

namespace eddy::test::deputy_test {
namespace {

class Deputy : public PollsetTest {
protected:
    void SetUp() override {
        PollsetTest::SetUp();
        pipe_ = make_pipe();
        fd_ = pipe_.first.get();
        handle_.emplace(domain(), std::move(pipe_.first));
        set_.emplace(domain());
        ASSERT_FALSE(set_->add(**handle_));
    }
    void TearDown() override {
        set_.reset();
        handle_.reset();
        pipe_.second.reset();
        PollsetTest::TearDown();
    }

    /// Threads that work on one pollset until they are told to leave.
    class crowd {
    public:
        crowd(pollset& set, unsigned count) : set_(set), inside_(count) {
            for (unsigned i = 0; i != count; ++i) {
                threads_.emplace_back([this] {
                    while (!leave_) {
                        EXPECT_TRUE(set_.work(soon()));
                    }
                    --inside_;
                });
            }
        }
        ~crowd() {
            leave_ = true;
            EXPECT_TRUE(comes([&] {
                set_.wake(threads_.size());  // one may have been on its way in
                return inside_ == 0;
            }));
            for (std::thread& thread : threads_) {
                thread.join();
            }
        }

    private:
        pollset& set_;
        std::atomic<bool> leave_{false};
        std::atomic<unsigned> inside_;
        std::vector<std::thread> threads_;
    };

    pollset& set() { return *set_; }
    poll_handle& handle() { return **handle_; }
    bool has_deputies() const { return GetParam() == poll_strategy::domain; }
    /// As many wait in the kernel as can.
    bool all_wait(std::uint64_t before) { return waits(before + (has_deputies() ? 1 : 0)); }
    std::uint64_t waits_so_far() { return domain().counters().waits; }
    /// Somebody calls a closure for what is written now.
    bool is_served() {
        noted readable;
        EXPECT_FALSE(handle().notify_on_read(readable));
        write_all(pipe_.second.get(), "x");
        const bool came = comes([&] { return readable.calls() == 1; });
        recv_exactly(fd_, 1);
        return came;
    }

private:
    fd_pair pipe_;
    int fd_ = -1;
    std::optional<held_handle> handle_;
    std::optional<pollset> set_;
};

/// Elsewhere the one that an event wakes calls another one into the kernel.
class OneOfMany : public Deputy {};

TEST_P(OneOfMany, IsWokenByAnEvent) {
    const auto before = waits_so_far();
    const crowd four(set(), 4);
    ASSERT_TRUE(all_wait(before));
    for (int i = 0; i != 50; ++i) {
        const auto waits_before = waits_so_far();
        const poll_counters counted = domain().counters();
        ASSERT_TRUE(is_served());
        ASSERT_TRUE(waits(waits_before)) << "it goes back into the kernel";
        EXPECT_EQ(domain().counters().thread_wakes, counted.thread_wakes) << "event " << i;
        EXPECT_EQ(domain().counters().poller_wakes, counted.poller_wakes) << "event " << i;
    }
}

TEST_P(Deputy, ServesTheOthersWhileAHandlerBlocks) {
    pollset& of_all = set();
    auto [read, write] = make_pipe();
    held_handle slow(domain(), std::move(read));
    ASSERT_FALSE(of_all.add(*slow));
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};
    callback blocks([&](std::error_code) {
        entered = true;
        EXPECT_TRUE(comes([&] { return leave.load(); }));
    });
    ASSERT_FALSE(slow->notify_on_read(blocks));
    const auto before = waits_so_far();
    const crowd two(of_all, 2);
    ASSERT_TRUE(all_wait(before));
    write_all(write.get(), "x");
    ASSERT_TRUE(comes([&] { return entered.load(); }));
    EXPECT_TRUE(is_served());
    leave = true;
}

TEST_P(Deputy, AKickFetchesTheOneThatIsMeant) {
    random_numbers random;
    for (int round = 0; round != 200; ++round) {
        const auto before = waits_so_far();
        std::array<std::optional<inside>, 2> both;
        for (auto& one : both) {
            one.emplace(set());
        }
        if (!random.one_in(4)) {  // else one of them may be on its way still
            ASSERT_TRUE(all_wait(before));
        }
        const std::size_t which = random.below(2);
        {
            const auto lock = both[which]->once_inside();
            ASSERT_FALSE(set().kick(both[which]->worker));
        }
        ASSERT_EQ(both[which]->join(), work_end::kicked) << "round " << round;
        ASSERT_TRUE(is_served()) << "round " << round;
        ASSERT_EQ(both[1 - which]->join(), work_end::ran) << "round " << round;
    }
}

TEST_P(Deputy, TwoKicksFetchBoth) {
    for (int round = 0; round != 100; ++round) {
        const auto before = waits_so_far();
        inside first(set());
        inside second(set());
        first.once_inside().unlock();
        second.once_inside().unlock();
        if (round % 2 == 0) {
            ASSERT_TRUE(all_wait(before));
        }
        ASSERT_EQ(set().wake(2), 2U);
        ASSERT_EQ(first.join(), work_end::kicked) << "round " << round;
        ASSERT_EQ(second.join(), work_end::kicked) << "round " << round;
    }
}

TEST_P(Deputy, AShutdownFetchesBoth) {
    pollset ends(domain());
    const auto before = waits_so_far();
    inside first(ends);
    inside second(ends);
    ASSERT_TRUE(all_wait(before));
    noted down;
    ends.shutdown(down);
    EXPECT_EQ(first.join(), work_end::shut_down);
    EXPECT_EQ(second.join(), work_end::shut_down);
    EXPECT_EQ(down.calls(), 1);
}

TEST_P(Deputy, EachReturnsAtItsOwnTime) {
    const auto before = waits_so_far();
    inside patient(set());
    ASSERT_TRUE(waits(before));
    inside hasty(set(), soon(20ms));
    EXPECT_EQ(hasty.join(), work_end::timed_out);
    EXPECT_TRUE(is_served());
    EXPECT_EQ(patient.join(), work_end::ran);
}

EDDY_WITH_EVERY_STRATEGY(Deputy);
INSTANTIATE_TEST_SUITE_P(Strategy, OneOfMany, ::testing::Values(poll_strategy::domain),
                         strategy_name);

}  // namespace
}  // namespace eddy::test::deputy_test
