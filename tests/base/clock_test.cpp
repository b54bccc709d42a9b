// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/clock.hpp>

#include <cstdint>

#include <gtest/gtest.h>

namespace eddy::test::clock_test {
namespace {

using namespace std::chrono_literals;
using eddy::duration;
using eddy::saturating_add;
using eddy::time_point;

constexpr time_point at(std::int64_t ns) { return time_point(duration(ns)); }

TEST(SaturatingAdd, AddsWhatFits) {
    static_assert(saturating_add(at(1), 2ns) == at(3));
    EXPECT_EQ(saturating_add(at(5), -7ns), at(-2));
    EXPECT_EQ(saturating_add(at(5), 0ns), at(5));
}

TEST(SaturatingAdd, StopsAtTheEndOfTheClock) {
    EXPECT_EQ(saturating_add(time_point::max(), 1ns), eddy::never);
    EXPECT_EQ(saturating_add(at(1), duration::max()), eddy::never);
    EXPECT_EQ(saturating_add(time_point::max(), duration::max()), eddy::never);
    EXPECT_EQ(saturating_add(eddy::clock::now(), duration::max()), eddy::never);
}

TEST(SaturatingAdd, StopsAtTheBeginningOfTheClock) {
    EXPECT_EQ(saturating_add(time_point::min(), -1ns), time_point::min());
    EXPECT_EQ(saturating_add(at(-2), duration::min()), time_point::min());
    EXPECT_EQ(saturating_add(time_point::min(), duration::min()), time_point::min());
}

TEST(SaturatingAdd, ReachesTheLimitsExactly) {
    EXPECT_EQ(saturating_add(at(INT64_MAX - 1), 1ns), time_point::max());
    EXPECT_EQ(saturating_add(at(INT64_MIN + 1), -1ns), time_point::min());
    EXPECT_EQ(saturating_add(time_point::max(), duration::min()), at(-1));
    EXPECT_EQ(saturating_add(time_point::min(), duration::max()), at(-1));
}

}  // namespace
}  // namespace eddy::test::clock_test
