// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/assert.hpp>

#include <gtest/gtest.h>

namespace eddy::test::assert_test {
namespace {

TEST(Assert, SaysNothingAboutWhatHolds) {
    int evaluated = 0;
    EDDY_ASSERT(++evaluated == 1, "never seen");
    EXPECT_EQ(evaluated, 1);
}

TEST(AssertDeathTest, SaysWhatIsWrongAndWhere) {
    const int apples = 3;
    EXPECT_EXIT(EDDY_ASSERT(apples == 4, "an apple is missing"), ::testing::KilledBySignal(SIGABRT),
                "^eddy: an apple is missing \\(apples == 4, .*assert_test\\.cpp:[0-9]+\\)\n");
}

}  // namespace
}  // namespace eddy::test::assert_test
