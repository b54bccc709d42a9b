// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/result.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace eddy::test::result_test {
namespace {

const std::error_code broken = std::make_error_code(std::errc::broken_pipe);

TEST(Result, HoldsAValue) {
    result<std::string> got(std::string("text"));
    EXPECT_TRUE(got);
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(got.error(), std::error_code());
    EXPECT_EQ(*got, "text");
    EXPECT_EQ(got->size(), 4U);
    got.value() += "s";
    const result<std::string> same(got);
    EXPECT_EQ(*same, "texts");
    EXPECT_EQ(same->size(), 5U);
}

TEST(Result, HoldsAnErrorInItsPlace) {
    result<std::string> got(broken);
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error(), broken);
    try {
        static_cast<void>(got.value());
        FAIL() << "there is no value";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), broken);
    }
}

TEST(Result, GivesAwayAValueThatCanOnlyBeMoved) {
    result<std::unique_ptr<int>> got(std::make_unique<int>(7));
    const std::unique_ptr<int> mine = *std::move(got);
    EXPECT_EQ(*mine, 7);
    EXPECT_EQ(*result<std::unique_ptr<int>>(std::make_unique<int>(8)).value(), 8);
}

TEST(Result, TellsAnErrorFromAValueThatIsAnErrorNumber) {
    const result<int> got(32);
    EXPECT_TRUE(got);
    EXPECT_EQ(*got, 32);
}

TEST(Result, ThatIsConstantShowsItsValue) {
    const result<int> got(3);
    EXPECT_EQ(got.value(), 3);
    const result<int> failed(broken);
    EXPECT_THROW(static_cast<void>(failed.value()), std::system_error);
}

TEST(Result, OfNothingIsAnErrorOrNone) {
    const result<> fine;
    EXPECT_TRUE(fine);
    EXPECT_NO_THROW(fine.value());
    const result<> failed(broken);
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error(), broken);
    EXPECT_THROW(failed.value(), std::system_error);
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorIsMisuse) {
    result<int> got(broken);
    EXPECT_DEATH(static_cast<void>(*got), "the value of a result was taken that holds an error");
}

}  // namespace
}  // namespace eddy::test::result_test
