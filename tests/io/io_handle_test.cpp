// SPDX-License-Identifier: Apache-2.0
#include "io/io_fixture.hpp"

#include <eddy/io/io_handle.hpp>

namespace eddy::test::io_handle_test {
namespace {

class IoHandleTest : public IoTest {
protected:
    io_handle event(unsigned value = 0) { return io_handle(loop(), make_eventfd(value)); }
};

TEST_P(IoHandleTest, WaitsUntilItIsReady) {
    io_handle handle = event();
    started waiting(loop(), handle.wait_readable());
    settle();
    EXPECT_FALSE(waiting.ended());
    const std::uint64_t one = 1;
    write_all(handle.native_handle(), {reinterpret_cast<const char*>(&one), sizeof one});
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(any(waiting.value() & interest::readable));
    EXPECT_TRUE(any(run(handle.wait_writable()) & interest::writable));
}

TEST_P(IoHandleTest, AnEmptyOneFailsWithBadFileDescriptor) {
    io_handle none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.native_handle(), -1);
    EXPECT_EQ(none.home(), nullptr);
    EXPECT_EQ(error_of(none.wait_readable()), bad_fd);
    EXPECT_EQ(error_of(none.close()), bad_fd);
    unique_fd fd;
    EXPECT_EQ(none.release(fd), bad_fd);
}

TEST_P(IoHandleTest, AMovedOneIsEmptyAndTheNewOneGoesOn) {
    io_handle from = event();
    started waiting(loop(), from.wait_readable());
    settle();
    io_handle to = std::move(from);
    EXPECT_EQ(error_of(from.wait_readable()), bad_fd);
    settle();
    EXPECT_FALSE(waiting.ended());
    const std::uint64_t one = 1;
    write_all(to.native_handle(), {reinterpret_cast<const char*>(&one), sizeof one});
    ASSERT_TRUE(ends(waiting));
    EXPECT_TRUE(waiting.has_value());
}

TEST_P(IoHandleTest, ClosingEndsWhatIsPendingWithCanceledAndAStopWithStopped) {
    io_handle closed = event();
    io_handle kept = event();
    started ended_by_close(loop(), closed.wait_readable());
    started ended_by_stop(loop(), kept.wait_readable());
    settle();
    run(closed.close());
    ended_by_stop.stop();
    ASSERT_TRUE(ends(ended_by_close));
    ASSERT_TRUE(ends(ended_by_stop));
    EXPECT_EQ(ended_by_close.error(), canceled);
    EXPECT_FALSE(ended_by_close.stopped());
    EXPECT_TRUE(ended_by_stop.stopped());
    EXPECT_EQ(ended_by_close.completions() + ended_by_stop.completions(), 2);
}

TEST_P(IoHandleTest, CloseCompletesWhenTheFdIsClosed) {
    io_handle handle = event();
    const int fd = handle.native_handle();
    run(handle.close());
    EXPECT_FALSE(is_open(fd));
    EXPECT_FALSE(handle);
    EXPECT_EQ(error_of(handle.close()), bad_fd);
}

TEST_P(IoHandleTest, ACloseThatIsDroppedOrStoppedClosesAllTheSame) {
    io_handle dropped = event();
    io_handle stopped = event();
    const int first = dropped.native_handle();
    const int second = stopped.native_handle();
    { auto never_started = dropped.close(); }
    started closing(loop(), stopped.close());
    closing.stop();
    ASSERT_TRUE(ends(closing));
    settle();
    EXPECT_FALSE(is_open(first));
    EXPECT_FALSE(is_open(second));
    EXPECT_EQ(closing.completions(), 1);
}

TEST_P(IoHandleTest, ASenderOfAHandleThatWasClosedFails) {
    io_handle handle = event(1);
    auto late = handle.wait_readable();
    run(handle.close());
    EXPECT_EQ(error_of(std::move(late)), bad_fd);
}

TEST_P(IoHandleTest, GivesTheFdBack) {
    io_handle handle = event(1);
    const int fd = handle.native_handle();
    unique_fd back;
    ASSERT_FALSE(handle.release(back));
    EXPECT_EQ(back.get(), fd);
    EXPECT_TRUE(is_open(fd));
    EXPECT_FALSE(handle);
}

TEST_P(IoHandleTest, AdoptsWithoutExceptions) {
    io_handle out;
    unique_fd fd = make_eventfd();
    ASSERT_FALSE(adopt(loop(), fd, out));
    EXPECT_TRUE(out);
    EXPECT_FALSE(fd);
    unique_fd none;
    EXPECT_EQ(adopt(loop(), none, out), bad_fd);
    EXPECT_TRUE(out) << "an error must leave it as it was";
    EXPECT_THROW(io_handle(loop(), unique_fd()), std::system_error);
}

TEST_P(IoHandleTest, ManySendersCanBeMadeOfOne) {
    io_handle handle = event(1);
    const auto waiting = handle.wait_readable();
    EXPECT_TRUE(any(run(waiting)));
    EXPECT_TRUE(any(run(waiting)));
}

EDDY_ON_EVERY_ENGINE(IoHandleTest);

}  // namespace
}  // namespace eddy::test::io_handle_test
