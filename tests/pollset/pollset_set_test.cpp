#include "support/pollset_fixture.hpp"

#include <eddy/pollset/pollset_set.hpp>

namespace eddy::test {
namespace {

class PollsetSet : public PollsetTest {
protected:
    /// Whether a worker of `set` is told of an event of `handle`.
    static bool serves(pollset& set, held_handle& handle) {
        noted told;
        EXPECT_FALSE(handle->notify_on_error(told));
        handle->make_ready(poll_event_kind::error);
        settle(set);
        if (told.calls() == 1) {
            return true;
        }
        // Nobody has it: a pollset of its own takes it away.
        pollset other(*domain_of_test);
        EXPECT_FALSE(other.add(*handle));
        settle(other);
        EXPECT_EQ(told.calls(), 1);
        return false;
    }
    void SetUp() override {
        PollsetTest::SetUp();
        domain_of_test = &domain();
    }
    static inline poll_domain* domain_of_test = nullptr;
};

TEST_P(PollsetSet, HandlesFlowDownInWhateverOrderTheTiesAreMade) {
    auto [first_end, second_end] = make_pipe();
    held_handle upper(domain(), std::move(first_end));
    held_handle lower(domain(), std::move(second_end));
    pollset above(domain());
    pollset below(domain());
    pollset_set bag(domain());
    pollset_set item(domain());
    ASSERT_FALSE(bag.add(*upper));
    ASSERT_FALSE(bag.add(item));
    ASSERT_FALSE(item.add(below));
    ASSERT_FALSE(bag.add(above));
    ASSERT_FALSE(item.add(*lower));
    EXPECT_TRUE(serves(above, upper));
    EXPECT_TRUE(serves(below, upper));
    EXPECT_TRUE(serves(below, lower));
    EXPECT_FALSE(serves(above, lower)) << "never up";
    ASSERT_FALSE(bag.remove(item));
    EXPECT_FALSE(serves(below, upper)) << "removing truly removes";
    EXPECT_TRUE(serves(above, upper));
}

TEST_P(PollsetSet, WhatTwoWaysLeadToStaysUntilBothAreCut) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    pollset_set one(domain());
    pollset_set two(domain());
    ASSERT_FALSE(one.add(set));
    ASSERT_FALSE(two.add(set));
    ASSERT_FALSE(one.add(*handle));
    ASSERT_FALSE(two.add(*handle));
    ASSERT_FALSE(set.add(*handle));
    ASSERT_FALSE(one.remove(*handle));
    EXPECT_TRUE(serves(set, handle));
    ASSERT_FALSE(set.remove(*handle));
    EXPECT_TRUE(serves(set, handle));
    ASSERT_FALSE(two.remove(set));
    EXPECT_FALSE(serves(set, handle));
}

TEST_P(PollsetSet, CirclesAndRepetitionsAreErrors) {
    pollset set(domain());
    pollset_set a(domain());
    pollset_set b(domain());
    pollset_set c(domain());
    EXPECT_EQ(a.add(a), std::errc::too_many_symbolic_link_levels);
    ASSERT_FALSE(a.add(b));
    ASSERT_FALSE(b.add(c));
    EXPECT_EQ(c.add(a), std::errc::too_many_symbolic_link_levels);
    EXPECT_EQ(a.add(b), std::errc::file_exists);
    ASSERT_FALSE(c.add(set));
    EXPECT_EQ(c.add(set), std::errc::file_exists);
    ASSERT_FALSE(c.remove(set));
    EXPECT_EQ(c.remove(set), std::errc::no_such_file_or_directory);
    EXPECT_EQ(a.remove(c), std::errc::no_such_file_or_directory);
    poll_domain elsewhere({.strategy = GetParam()});
    pollset_set foreign(elsewhere);
    EXPECT_EQ(a.add(foreign), std::errc::invalid_argument);
}

TEST_P(PollsetSet, ASetThatEndsCutsItsTies) {
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    pollset set(domain());
    pollset_set bag(domain());
    ASSERT_FALSE(bag.add(*handle));
    {
        pollset_set middle(domain());
        ASSERT_FALSE(middle.add(set));
        ASSERT_FALSE(bag.add(middle));
        EXPECT_TRUE(serves(set, handle));
    }
    EXPECT_FALSE(serves(set, handle));
}

EDDY_WITH_EVERY_STRATEGY(PollsetSet);

}  // namespace
}  // namespace eddy::test
