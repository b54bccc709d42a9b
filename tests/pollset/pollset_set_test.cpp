// SPDX-License-Identifier: Apache-2.0
// Bags of handles and pollsets: what is reachable is served, and nothing else is.
#include "support/pollset_fixture.hpp"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace eddy::test::pollset_set_test {
namespace {

class PollsetSet : public PollsetTest {
protected:
    void TearDown() override {
        handles_.clear();
        sets_.clear();
        ends_.clear();
        PollsetTest::TearDown();
    }

    pollset& make_set() { return sets_.emplace_back(domain()); }

    poll_handle& make_handle() {
        auto [read, write] = make_pipe();
        ends_.push_back(std::move(write));
        return *handles_.emplace_back(domain(), std::move(read));
    }
    /// Whether a thread that works on `set` alone gets the events of `h`.
    bool serves(pollset& set, poll_handle& h) {
        noted readable;
        EXPECT_FALSE(h.notify_on_read(readable));
        const std::size_t at = index_of(h);
        write_all(ends_[at].get(), "x");
        settle(set);
        const bool served = readable.calls() == 1;
        if (!served && !h.cancel(readable)) {  // it may have been harvested for others
            for (pollset& other : sets_) {
                settle(other);
            }
            EXPECT_EQ(readable.calls(), 1) << "harvested, and lost";
        }
        recv_exactly(h.fd(), 1);
        return served;
    }

private:
    std::size_t index_of(poll_handle& h) {
        std::size_t at = 0;
        while (&*handles_[at] != &h) {
            ++at;
        }
        return at;
    }

    std::deque<pollset> sets_;
    std::deque<held_handle> handles_;
    std::vector<unique_fd> ends_;
};

TEST_P(PollsetSet, TenFdsInTwoSetsReachThreePollsetsWhateverCameFirst) {
    // Each bit: whether a tie is made before the handles are added, or after.
    for (unsigned before = 0; before != 8; ++before) {
        pollset& first = make_set();
        pollset& second = make_set();
        pollset& third = make_set();
        pollset_set left(domain());
        pollset_set right(domain());
        const auto tie = [&](unsigned now) {
            if ((before & 1U) == now) {
                ASSERT_FALSE(left.add(first));
            }
            if ((before >> 1U & 1U) == now) {
                ASSERT_FALSE(left.add(second));
                ASSERT_FALSE(right.add(second));
            }
            if ((before >> 2U & 1U) == now) {
                ASSERT_FALSE(right.add(third));
            }
        };
        tie(1);
        std::vector<poll_handle*> handles;
        for (int i = 0; i != 10; ++i) {
            handles.push_back(&make_handle());
            ASSERT_FALSE((i < 5 ? left : right).add(*handles.back()));
        }
        ASSERT_FALSE(right.add(*handles[0])) << "one is in both";
        tie(0);
        for (int i = 0; i != 10; ++i) {
            poll_handle& h = *handles[static_cast<std::size_t>(i)];
            EXPECT_EQ(serves(first, h), i < 5) << "handle " << i << ", order " << before;
            EXPECT_TRUE(serves(second, h)) << "handle " << i << ", order " << before;
            EXPECT_EQ(serves(third, h), i >= 5 || i == 0) << "handle " << i << ", order " << before;
        }
    }
}

TEST_P(PollsetSet, HandlesFlowDownThroughNestedSetsAndNotUp) {
    pollset& top_set = make_set();
    pollset& bottom_set = make_set();
    pollset_set top(domain());
    pollset_set middle(domain());
    pollset_set bottom(domain());
    poll_handle& of_top = make_handle();
    poll_handle& of_bottom = make_handle();
    ASSERT_FALSE(bottom.add(bottom_set));
    ASSERT_FALSE(top.add(top_set));
    ASSERT_FALSE(top.add(of_top));
    ASSERT_FALSE(middle.add(bottom));
    ASSERT_FALSE(top.add(middle));
    ASSERT_FALSE(bottom.add(of_bottom));
    EXPECT_TRUE(serves(bottom_set, of_top));
    EXPECT_TRUE(serves(bottom_set, of_bottom));
    EXPECT_TRUE(serves(top_set, of_top));
    EXPECT_FALSE(serves(top_set, of_bottom));
    ASSERT_FALSE(top.remove(middle));
    EXPECT_FALSE(serves(bottom_set, of_top)) << "a tie in between was cut";
    EXPECT_TRUE(serves(bottom_set, of_bottom));
}

TEST_P(PollsetSet, WhatIsRemovedIsServedNoMore) {
    pollset& set = make_set();
    pollset_set bag(domain());
    pollset_set above(domain());
    poll_handle& h = make_handle();
    ASSERT_FALSE(bag.add(set));
    ASSERT_FALSE(bag.add(h));
    EXPECT_TRUE(serves(set, h));
    ASSERT_FALSE(bag.remove(h));
    EXPECT_FALSE(serves(set, h)) << "the handle";
    EXPECT_EQ(bag.remove(h), std::errc::no_such_file_or_directory);
    ASSERT_FALSE(bag.add(h));
    EXPECT_TRUE(serves(set, h));
    ASSERT_FALSE(bag.remove(set));
    EXPECT_FALSE(serves(set, h)) << "the pollset";
    EXPECT_EQ(bag.remove(set), std::errc::no_such_file_or_directory);
    ASSERT_FALSE(bag.remove(h));
    ASSERT_FALSE(bag.add(set));
    ASSERT_FALSE(above.add(bag));
    ASSERT_FALSE(above.add(h));
    EXPECT_TRUE(serves(set, h));
    ASSERT_FALSE(above.remove(bag));
    EXPECT_FALSE(serves(set, h)) << "the set";
    EXPECT_EQ(above.remove(bag), std::errc::no_such_file_or_directory);
}

TEST_P(PollsetSet, WhatTwoWaysLeadToStaysUntilBothAreCut) {
    pollset& set = make_set();
    pollset_set left(domain());
    pollset_set right(domain());
    poll_handle& h = make_handle();
    for (pollset_set* bag : {&left, &right}) {
        ASSERT_FALSE(bag->add(set));
        ASSERT_FALSE(bag->add(h));
    }
    ASSERT_FALSE(set.add(h));
    EXPECT_TRUE(serves(set, h));
    ASSERT_FALSE(left.remove(h));
    EXPECT_TRUE(serves(set, h));
    ASSERT_FALSE(right.remove(set));
    EXPECT_TRUE(serves(set, h)) << "it was added by itself, too";
    ASSERT_FALSE(set.remove(h));
    EXPECT_FALSE(serves(set, h));
}

TEST_P(PollsetSet, ASetThatIsDestroyedCutsItsTies) {
    pollset& set = make_set();
    poll_handle& h = make_handle();
    pollset_set above(domain());
    ASSERT_FALSE(above.add(h));
    {
        pollset_set between(domain());
        ASSERT_FALSE(between.add(set));
        ASSERT_FALSE(above.add(between));
        EXPECT_TRUE(serves(set, h));
    }
    EXPECT_FALSE(serves(set, h));
}

TEST_P(PollsetSet, WhatIsDueToAHandleThatNobodyServesAnyMoreIsToldByTheCut) {
    constexpr auto why = std::errc::timed_out;
    for (const int way : {0, 1, 2, 3}) {
        SCOPED_TRACE(way);
        pollset& set = make_set();
        poll_handle& h = make_handle();
        pollset_set above(domain());
        std::optional<pollset_set> between(std::in_place, domain());
        ASSERT_FALSE(above.add(h));
        ASSERT_FALSE(above.add(*between));
        ASSERT_FALSE(between->add(set));
        noted ends;
        ASSERT_FALSE(h.notify_on_read(ends));
        h.shutdown(std::make_error_code(why));
        ASSERT_EQ(ends.calls(), 0) << "a worker of the pollset will tell it";
        if (way == 0) {
            ASSERT_FALSE(above.remove(h));
        } else if (way == 1) {
            ASSERT_FALSE(above.remove(*between));
        } else if (way == 2) {
            ASSERT_FALSE(between->remove(set));
        } else {
            between.reset();
        }
        EXPECT_EQ(ends.calls(), 1);
        EXPECT_EQ(ends.error(), why);
    }
}

TEST_P(PollsetSet, RefusesCircles) {
    constexpr auto circle = std::errc::too_many_symbolic_link_levels;
    pollset_set first(domain());
    pollset_set second(domain());
    pollset_set third(domain());
    EXPECT_EQ(first.add(first), circle);
    ASSERT_FALSE(first.add(second));
    ASSERT_FALSE(second.add(third));
    EXPECT_EQ(second.add(first), circle);
    EXPECT_EQ(third.add(first), circle);
    EXPECT_EQ(first.add(second), std::errc::file_exists);
    EXPECT_FALSE(first.add(third)) << "two ways are no circle";
    ASSERT_FALSE(first.remove(second));
    ASSERT_FALSE(first.remove(third));
    EXPECT_FALSE(third.add(first)) << "no circle any more";
}

TEST_P(PollsetSet, OfNothingIsHarmless) {
    pollset& set = make_set();
    pollset_set bag(domain());
    const pollset_set empty(domain());
    ASSERT_FALSE(bag.add(set));
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    poll_domain other({.strategy = GetParam()});
    pollset foreign(other);
    EXPECT_EQ(bag.add(foreign), std::errc::invalid_argument);
}

EDDY_WITH_EVERY_STRATEGY(PollsetSet);

}  // namespace
}  // namespace eddy::test::pollset_set_test
