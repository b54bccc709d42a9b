// SPDX-License-Identifier: Apache-2.0
#include "support/fds.hpp"
#include "support/in_child.hpp"

#include <eddy/base/unique_fd.hpp>

#include <type_traits>
#include <utility>

#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::unique_fd_test {
namespace {

using eddy::unique_fd;
using eddy::test::is_open;

int new_fd() { return eddy::test::make_eventfd().release(); }

static_assert(!std::is_copy_constructible_v<unique_fd> && !std::is_copy_assignable_v<unique_fd>);

TEST(UniqueFd, IsNoneAtFirst) {
    const unique_fd none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get(), -1);
}

TEST(UniqueFd, ClosesWhatItOwns) {
    const int fd = new_fd();
    {
        const unique_fd owner(fd);
        EXPECT_TRUE(owner);
        EXPECT_EQ(owner.get(), fd);
        EXPECT_TRUE(is_open(fd));
    }
    EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, ZeroIsAnFdLikeAnyOther) {
    // In a child, because this process may need its standard input.
    EXPECT_EQ(eddy::test::in_child([] {
                  ::close(0);
                  unique_fd owner(new_fd());
                  EXPECT_EQ(owner.get(), 0);
                  EXPECT_TRUE(owner);
                  owner.reset();
                  EXPECT_FALSE(is_open(0));
                  return 0;
              }),
              0);
}

TEST(UniqueFd, MovingHandsItOver) {
    const int fd = new_fd();
    unique_fd first(fd);
    const unique_fd second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(second.get(), fd);
    EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, AssigningClosesWhatWasThere) {
    const int old = new_fd();
    const int fresh = new_fd();
    unique_fd target(old);
    unique_fd source(fresh);
    target = std::move(source);
    EXPECT_FALSE(is_open(old));
    EXPECT_EQ(target.get(), fresh);
    EXPECT_TRUE(is_open(fresh));
}

TEST(UniqueFd, MovingItToItselfChangesNothing) {
    const int fd = new_fd();
    unique_fd owner(fd);
    unique_fd& same = owner;
    owner = std::move(same);
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, ReleasingLetsGoOfIt) {
    unique_fd owner(new_fd());
    const int fd = owner.release();
    EXPECT_FALSE(owner);
    EXPECT_TRUE(is_open(fd));
    owner.reset(fd);
}

TEST(UniqueFd, ResettingReplacesIt) {
    const int old = new_fd();
    const int fresh = new_fd();
    unique_fd owner(old);
    owner.reset(fresh);
    EXPECT_FALSE(is_open(old));
    owner.reset();
    EXPECT_FALSE(is_open(fresh));
    EXPECT_FALSE(owner);
}

}  // namespace
}  // namespace eddy::test::unique_fd_test
