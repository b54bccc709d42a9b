// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "ex/support.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/async/finally.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/stream.hpp>

#include <array>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

namespace eddy::test::finally_test {
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

/// The last thing that a stream does is to be closed, however its read ends.
class FinallyLoops : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            fd_pair pair = unix_stream_pair();
            in_ = stream(loop(), std::move(pair.first));
            peer_ = std::move(pair.second);
        }
    }
    void TearDown() override {
        in_ = {};
        peer_.reset();
        EngineTest::TearDown();
    }
    /// Reads, and closes it after a millisecond.
    auto read_and_close() {
        fd_ = in_.native_handle();
        const auto close_it = [this] { return in_.close(); };
        return finally(in_.read_some(buffer_),
                       loop().get_scheduler().schedule_after(1ms) | ex::let_value(close_it));
    }
    template <class Running>
    void expect_closed_after(Running& both, ending how) {
        ASSERT_TRUE(until([&] { return both.ended(); }));
        EXPECT_EQ(both.how(), how);
        EXPECT_EQ(both.seen.where, &loop());
        EXPECT_EQ(both.seen.completions, 1);
        EXPECT_FALSE(is_open(fd_));
    }

    stream in_;
    unique_fd peer_;
    std::array<std::byte, 8> buffer_{};
    int fd_ = -1;
};
EDDY_ON_EVERY_ENGINE(FinallyLoops);

TEST_P(FinallyLoops, ItIsClosedAfterBytes) {
    running both(read_and_close());
    both.start_on(loop());
    send_all(peer_.get(), "abc");
    expect_closed_after(both, ending::value);
}

TEST_P(FinallyLoops, ItIsClosedAfterAnError) {
    fd_pair connection = tcp_pair();
    in_ = stream(loop(), std::move(connection.first));
    reset_on_close(connection.second.get());
    running both(read_and_close());
    both.start_on(loop());
    connection.second.reset();
    expect_closed_after(both, ending::error);
    EXPECT_EQ(both.seen.error, std::errc::connection_reset);
}

TEST_P(FinallyLoops, ItIsClosedAfterAStop) {
    running both(read_and_close());
    both.start_on(loop());
    settle();
    EXPECT_FALSE(both.ended());
    both.stop();
    expect_closed_after(both, ending::stopped);
}

}  // namespace
}  // namespace eddy::test::finally_test
