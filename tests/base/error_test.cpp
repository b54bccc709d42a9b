// SPDX-License-Identifier: Apache-2.0
#include <eddy/base/error.hpp>

#include <cerrno>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace eddy::test::error_test {
namespace {

using eddy::errc;
using eddy::io_result;

std::error_code system_code(int error) { return {error, std::system_category()}; }

TEST(Error, TimedOutIsATimeoutButNotTheKernels) {
    const std::error_code ours = errc::timed_out;
    EXPECT_EQ(ours, std::errc::timed_out);
    EXPECT_EQ(system_code(ETIMEDOUT), std::errc::timed_out);
    EXPECT_NE(ours, system_code(ETIMEDOUT));
}

TEST(Error, EngineErrorsMeanWhatTheKernelWouldSay) {
    EXPECT_EQ(make_error_code(errc::engine_not_built), std::errc::function_not_supported);
    EXPECT_EQ(make_error_code(errc::engine_denied), std::errc::operation_not_permitted);
}

TEST(Error, SignalErrorsMeanWhatTheKernelWouldSayAndSayWhatToDo) {
    EXPECT_EQ(make_error_code(errc::signal_not_blocked), std::errc::operation_not_permitted);
    EXPECT_EQ(make_error_code(errc::signal_ignored), std::errc::operation_not_permitted);
    EXPECT_EQ(make_error_code(errc::signal_has_owner), std::errc::device_or_resource_busy);
    EXPECT_EQ(make_error_code(errc::signal_not_waitable), std::errc::invalid_argument);
    EXPECT_EQ(make_error_code(errc::signal_not_attached), std::errc::invalid_argument);
    EXPECT_NE(make_error_code(errc::signal_not_blocked).message().find("block_signals()"),
              std::string::npos);
}

TEST(Error, AProcessOfAnotherLoopIsBusy) {
    EXPECT_EQ(make_error_code(errc::process_has_owner), std::errc::device_or_resource_busy);
    EXPECT_EQ(make_error_code(errc::process_not_child), std::errc::not_supported);
    EXPECT_EQ(make_error_code(errc::children_hidden), std::errc::operation_not_permitted);
    EXPECT_EQ(make_error_code(errc::process_has_owner).message(),
              "another loop watches this process");
}

TEST(Error, HasACategoryAndMessagesOfItsOwn) {
    const std::error_category& category = eddy::error_category();
    EXPECT_STREQ(category.name(), "eddy");
    EXPECT_EQ(&category, &eddy::error_category());
    EXPECT_EQ(make_error_code(errc::timed_out).message(),
              "the deadline of the operation has passed");
    EXPECT_NE(make_error_code(errc::engine_denied).message().find("io_uring_disabled"),
              std::string::npos);
    EXPECT_NE(make_error_code(errc::engine_not_built).message().find("liburing"),
              std::string::npos);
}

TEST(Error, ANumberThatIsNoneOfOursIsNamed) {
    const std::error_code strange(77, eddy::error_category());
    EXPECT_EQ(strange.message(), "unknown error 77");
    EXPECT_EQ(strange.default_error_condition().value(), 77);
    EXPECT_NE(strange, std::errc::timed_out);
}

TEST(IoResult, IsZeroAtFirst) {
    constexpr io_result result;
    EXPECT_TRUE(result);
    EXPECT_EQ(result.count(), 0U);
    EXPECT_EQ(result, io_result::value(0));
}

TEST(IoResult, HoldsACount) {
    const auto result = io_result::value(std::int64_t{3} << 30);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result.count(), std::size_t{3} << 30);
    EXPECT_FALSE(result.error());
    EXPECT_EQ(result.system_error(), 0);
}

TEST(IoResult, HoldsAnFd) {
    EXPECT_EQ(io_result::value(0).fd(), 0);
    EXPECT_EQ(io_result::value(17).fd(), 17);
}

TEST(IoResult, HoldsAnErrorOfTheSystem) {
    const auto result = io_result::system_error(ECONNRESET);
    EXPECT_FALSE(result.ok());
    EXPECT_FALSE(result);
    EXPECT_EQ(result.error(), system_code(ECONNRESET));
    EXPECT_EQ(result.system_error(), ECONNRESET);
    EXPECT_EQ(result.count(), 0U);
    EXPECT_EQ(result.fd(), -1);
    EXPECT_FALSE(result.would_block());
}

TEST(IoResult, HoldsAnErrorOfOurs) {
    const auto result = io_result::eddy_error(errc::timed_out);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.error(), errc::timed_out);
    EXPECT_NE(result.error(), system_code(ETIMEDOUT));
    EXPECT_EQ(result.system_error(), 0);
    EXPECT_EQ(result.fd(), -1);
}

TEST(IoResult, TheKernelsLastErrorIsNotOneOfOurs) {
    const auto result = io_result::from_kernel(-4095);
    EXPECT_EQ(result.system_error(), 4095);
    EXPECT_EQ(result.error(), system_code(4095));
}

TEST(IoResult, FromTheKernelIsAValueOrANegativeError) {
    EXPECT_EQ(io_result::from_kernel(5), io_result::value(5));
    EXPECT_EQ(io_result::from_kernel(-EPIPE), io_result::system_error(EPIPE));
}

TEST(IoResult, KnowsWhenACallWouldHaveBlocked) {
    EXPECT_TRUE(io_result::system_error(EAGAIN).would_block());
    EXPECT_TRUE(io_result::system_error(EWOULDBLOCK).would_block());
    EXPECT_FALSE(io_result::system_error(EINPROGRESS).would_block());
    EXPECT_FALSE(io_result::value(0).would_block());
    EXPECT_FALSE(io_result::eddy_error(errc::timed_out).would_block());
}

}  // namespace
}  // namespace eddy::test::error_test
