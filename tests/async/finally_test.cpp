#include "async/running.hpp"
#include "ex/support.hpp"

#include <eddy/async/finally.hpp>

#include <gtest/gtest.h>

namespace eddy::test {
namespace {

using ex_testing::fragile;
using ex_testing::manual_event;

TEST(Finally, TheCleanupRunsAfterEachEnding) {
    int cleaned = 0;
    const auto cleanup = ex::just() | ex::then([&] { ++cleaned; });
    running value(finally(ex::just(5), cleanup));
    value.start();
    EXPECT_EQ(value.seen.number, 5);
    running error(finally(ex::just_error(std::make_error_code(std::errc::io_error)), cleanup));
    error.start();
    EXPECT_EQ(error.seen.error, std::errc::io_error);
    running stopped(finally(ex::just_stopped(), cleanup));
    stopped.start();
    EXPECT_EQ(stopped.how(), ending::stopped);
    EXPECT_EQ(cleaned, 3);
}

TEST(Finally, NobodyCanStopTheCleanup) {
    manual_event work;
    manual_event cleanup;
    running both(finally(work.wait(), cleanup.wait()));
    both.start();
    both.stop();
    EXPECT_FALSE(both.ended());
    EXPECT_FALSE(cleanup.stop_seen());
    cleanup.value(0);
    EXPECT_EQ(both.how(), ending::stopped);
}

TEST(Finally, AnErrorOfTheCleanupIsTheResult) {
    running both(finally(ex::just(1), ex::just_error(std::make_error_code(std::errc::io_error))));
    both.start();
    EXPECT_EQ(both.seen.error, std::errc::io_error);
}

TEST(Finally, ACleanupThatIsStoppedCountsAsDone) {
    running both(finally(ex::just(1), ex::just_stopped()));
    both.start();
    EXPECT_EQ(both.seen.number, 1);
}

TEST(Finally, AResultThatThrowsWhenItIsKeptIsAnExceptionAfterTheCleanup) {
    bool cleaned = false;
    running both(finally(ex::just() | ex::then([] { return fragile(0, 1); }),
                         ex::just() | ex::then([&] { cleaned = true; })));
    both.start();
    EXPECT_EQ(both.how(), ending::exception);
    EXPECT_TRUE(cleaned);
}

}  // namespace
}  // namespace eddy::test
