// SPDX-License-Identifier: Apache-2.0
// Handles, pollsets and sets are tied and cut at random, beside a model that knows which ties there
// are and nothing else: a pollset serves the handles that some way leads from, and no others.
#include "support/pollset_fixture.hpp"
#include "support/random.hpp"

#include <array>
#include <optional>

namespace eddy::test::random_sets_test {
namespace {

constexpr std::size_t handle_count = 5;
constexpr std::size_t set_count = 4;
constexpr std::size_t bag_count = 6;

template <std::size_t Rows, std::size_t Columns>
using ties = std::array<std::array<bool, Columns>, Rows>;

class RandomSets : public PollsetTest {
protected:
    void SetUp() override {
        PollsetTest::SetUp();
        for (std::size_t i = 0; i != handle_count; ++i) {
            renew_handle(i);
        }
        for (auto& set : sets_) {
            set.emplace(domain());
        }
        for (auto& bag : bags_) {
            bag.emplace(domain());
        }
    }
    void TearDown() override {
        for (auto& h : handles_) {
            h.reset();
        }
        for (auto& bag : bags_) {
            bag.reset();
        }
        for (auto& set : sets_) {
            set.reset();
        }
        for (auto& end : ends_) {
            end.reset();
        }
        PollsetTest::TearDown();
    }

    void act(random_numbers& random) {
        const std::size_t h = random.below(handle_count);
        const std::size_t s = random.below(set_count);
        const std::size_t b = random.below(bag_count);
        const std::size_t other = random.below(bag_count);
        switch (random.below(20)) {
            case 0:
                handles_[h].reset();  // orphans it
                renew_handle(h);
                return;
            case 1:
                renew_set(s);
                return;
            case 2:
                renew_bag(b);
                return;
            case 3:
            case 4:
                toggle(direct_[s][h], *sets_[s], **handles_[h]);
                return;
            case 5:
            case 6:
            case 7:
            case 8:
                toggle(handle_in_[b][h], *bags_[b], **handles_[h]);
                return;
            case 9:
            case 10:
            case 11:
            case 12:
                toggle(set_in_[b][s], *bags_[b], *sets_[s]);
                return;
            default:
                if (!bag_in_[b][other] && leads(other, b)) {
                    EXPECT_EQ(bags_[b]->add(*bags_[other]),
                              std::errc::too_many_symbolic_link_levels);
                } else {
                    toggle(bag_in_[b][other], *bags_[b], *bags_[other]);
                }
        }
    }

    /// What the model says.
    bool should_serve(std::size_t s, std::size_t h) const {
        for (std::size_t from = 0; from != bag_count; ++from) {
            for (std::size_t to = 0; to != bag_count; ++to) {
                if (handle_in_[from][h] && set_in_[to][s] && leads(from, to)) {
                    return true;
                }
            }
        }
        return direct_[s][h];
    }

    /// Whether a thread that works on that pollset alone gets an event of the handle.
    bool serves(std::size_t s, std::size_t h) {
        poll_handle& handle = **handles_[h];
        noted readable;
        EXPECT_FALSE(handle.notify_on_read(readable));
        write_all(ends_[h].get(), "x");
        settle(*sets_[s]);
        const bool served = readable.calls() == 1;
        if (!served && !handle.cancel(readable)) {  // harvested for others
            for (auto& set : sets_) {
                settle(*set);
            }
            EXPECT_EQ(readable.calls(), 1) << "harvested, and lost";
        }
        recv_exactly(handle.fd(), 1);
        return served;
    }

private:
    /// Makes the tie, or cuts it; and tries what is not possible.
    template <class Holder, class Held>
    static void toggle(bool& tied, Holder& holder, Held& held) {
        if (tied) {
            EXPECT_EQ(holder.add(held), std::errc::file_exists);
            EXPECT_FALSE(holder.remove(held));
        } else {
            EXPECT_EQ(holder.remove(held), std::errc::no_such_file_or_directory);
            EXPECT_FALSE(holder.add(held));
        }
        tied = !tied;
    }

    bool leads(std::size_t from, std::size_t to) const {
        if (from == to) {
            return true;
        }
        for (std::size_t item = 0; item != bag_count; ++item) {
            if (bag_in_[from][item] && leads(item, to)) {
                return true;
            }
        }
        return false;
    }

    void renew_handle(std::size_t h) {
        fd_pair pipe = make_pipe();
        ends_[h] = std::move(pipe.second);
        handles_[h].emplace(domain(), std::move(pipe.first));
        for (auto& row : direct_) {
            row[h] = false;
        }
        for (auto& row : handle_in_) {
            row[h] = false;
        }
    }
    void renew_set(std::size_t s) {
        noted down;
        sets_[s]->shutdown(down);
        EXPECT_EQ(down.calls(), 1);
        sets_[s].emplace(domain());
        direct_[s] = {};
        for (auto& row : set_in_) {
            row[s] = false;
        }
    }
    void renew_bag(std::size_t b) {
        bags_[b].emplace(domain());
        handle_in_[b] = {};
        set_in_[b] = {};
        bag_in_[b] = {};
        for (auto& row : bag_in_) {
            row[b] = false;
        }
    }

    std::array<std::optional<pollset>, set_count> sets_;
    std::array<std::optional<pollset_set>, bag_count> bags_;
    std::array<std::optional<held_handle>, handle_count> handles_;
    std::array<unique_fd, handle_count> ends_;
    ties<set_count, handle_count> direct_{};
    ties<bag_count, handle_count> handle_in_{};
    ties<bag_count, set_count> set_in_{};
    ties<bag_count, bag_count> bag_in_{};  ///< [bag][item]
};

TEST_P(RandomSets, APollsetServesWhatSomeWayLeadsFromAndNothingElse) {
    random_numbers random;
    std::size_t served = 0;
    const std::size_t steps = scaled(1000);
    for (std::size_t step = 0; step != steps && !HasFailure(); ++step) {
        act(random);
        for (int look = 0; look != 3; ++look) {
            const std::size_t s = random.below(set_count);
            const std::size_t h = random.below(handle_count);
            const bool should = should_serve(s, h);
            ASSERT_EQ(serves(s, h), should) << "step " << step << ": " << s << " and " << h;
            served += should ? 1 : 0;
        }
    }
    EXPECT_GT(served, steps / 10) << "there were ways";
    EXPECT_LT(served, steps * 3 - steps / 10) << "and some were missing";
}

EDDY_WITH_EVERY_STRATEGY(RandomSets);

}  // namespace
}  // namespace eddy::test::random_sets_test
