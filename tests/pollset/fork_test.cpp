// SPDX-License-Identifier: Apache-2.0
#include "support/in_child.hpp"
#include "support/pollset_fixture.hpp"

#include <eddy/base/error.hpp>

#include <optional>

namespace eddy::test::fork_test {
namespace {

class PollsetFork : public PollsetTest {};

TEST_P(PollsetFork, AChildIsToldThatNothingOfItIsItsOwn) {
    pollset set(domain());
    pollset_set bag(domain());
    auto [read, write] = make_pipe();
    held_handle handle(domain(), std::move(read));
    ASSERT_FALSE(set.add(*handle));
    EXPECT_EQ(in_child([&] {
                  noted readable;
                  noted shut_down;
                  const auto forked = make_error_code(errc::forked);
                  EXPECT_EQ(set.work(soon()).error(), forked);
                  EXPECT_EQ(set.try_work().error(), forked);
                  EXPECT_EQ(set.add(*handle), forked);
                  EXPECT_EQ(set.remove(*handle), forked);
                  EXPECT_EQ(bag.add(*handle), forked);
                  EXPECT_EQ(bag.add(set), forked);
                  EXPECT_EQ(bag.remove(set), forked);
                  EXPECT_EQ(handle->notify_on_read(readable), forked);
                  EXPECT_FALSE(handle->cancel(readable));
                  EXPECT_EQ(set.wake(1), 0U);
                  set.kick_any();
                  EXPECT_THROW(pollset more(domain()), std::system_error);
                  EXPECT_THROW(pollset_set more(domain()), std::system_error);
                  set.shutdown(shut_down);
                  EXPECT_EQ(shut_down.calls(), 1);
                  EXPECT_GE(handle->fd(), 0);
                  return 0;
              }),
              0);
    noted readable;
    ASSERT_FALSE(handle->notify_on_read(readable));
    write_all(write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return readable.calls() == 1; }));
}

TEST_P(PollsetFork, WhatAChildDestroysStaysWithTheParent) {
    std::optional<poll_domain> own(std::in_place, poll_domain_options{.strategy = GetParam()});
    std::optional<pollset> set(*own);
    std::optional<pollset> second(*own);
    std::optional<pollset_set> bag(*own);
    auto [read, write] = make_pipe();
    auto [other_read, other_write] = make_pipe();
    auto handle = std::make_unique<held_handle>(*own, std::move(read));
    auto other = std::make_unique<held_handle>(*own, std::move(other_read));
    ASSERT_FALSE(set->add(**handle));
    ASSERT_FALSE(bag->add(**other));
    ASSERT_FALSE(bag->add(*set));
    ASSERT_FALSE(second->add(**other));
    noted readable;
    noted of_other;
    ASSERT_FALSE((**handle).notify_on_read(readable));
    ASSERT_FALSE((**other).notify_on_read(of_other));
    const std::size_t outside = open_fds();
    EXPECT_EQ(in_child([&] {
                  handle.reset();
                  other.reset();
                  bag.reset();
                  set.reset();
                  second.reset();
                  own.reset();
                  EXPECT_LE(open_fds(), outside - 4) << "its copies are closed";
                  EXPECT_EQ(readable.calls(), 0);
                  return 0;
              }),
              0);
    write_all(write.get(), "x");
    write_all(other_write.get(), "x");
    EXPECT_TRUE(until(*set, [&] { return readable.calls() == 1 && of_other.calls() == 1; }));
    handle.reset();
    other.reset();
}

EDDY_WITH_EVERY_STRATEGY(PollsetFork);

}  // namespace
}  // namespace eddy::test::fork_test
