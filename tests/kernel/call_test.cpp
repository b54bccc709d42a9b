#include "kernel/call.hpp"
#include "kernel/io.hpp"
#include "support/fds.hpp"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

namespace eddy::test::call_test {
namespace {

using namespace eddy;
using kernel::call;

class Faults : public ::testing::Test {
protected:
    ~Faults() override { kernel::fail_nothing(); }
};

TEST_F(Faults, AreNoneUnlessAskedFor) { EXPECT_EQ(kernel::injected(call::read), 0); }

TEST_F(Faults, HitTheNextCallOnly) {
    kernel::fail(call::read, EIO);
    EXPECT_EQ(kernel::injected(call::read), EIO);
    EXPECT_EQ(kernel::injected(call::read), 0);
}

TEST_F(Faults, HitNoOtherCall) {
    kernel::fail(call::read, EIO);
    EXPECT_EQ(kernel::injected(call::write), 0);
    EXPECT_EQ(kernel::injected(call::read), EIO);
}

TEST_F(Faults, SkipCallsAndHitSeveral) {
    kernel::fail(call::epoll_ctl, ENOSPC, 2, 3);
    for (const int expected : {0, 0, ENOSPC, ENOSPC, ENOSPC, 0}) {
        EXPECT_EQ(kernel::injected(call::epoll_ctl), expected);
    }
}

TEST_F(Faults, CanBeTakenBack) {
    kernel::fail(call::read, EIO, 1, 5);
    kernel::fail_nothing();
    kernel::fail(call::write, EPIPE);
    EXPECT_EQ(kernel::injected(call::read), 0);
    EXPECT_EQ(kernel::injected(call::read), 0);
    EXPECT_EQ(kernel::injected(call::write), EPIPE);
}

TEST_F(Faults, HitACallInsteadOfMakingIt) {
    const auto pipe = test::make_pipe();
    kernel::fail(call::write, ENOSPC);
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::system_error(ENOSPC));
    EXPECT_EQ(test::bytes_waiting(pipe.first.get()), 0U);
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::value(1));
}

TEST_F(Faults, AnInterruptedCallIsMadeAgain) {
    const auto pipe = test::make_pipe();
    kernel::fail(call::write, EINTR, 0, 3);
    const auto before = kernel::calls_made();
    EXPECT_EQ(kernel::write(pipe.second.get(), "x", 1, -1), io_result::value(1));
    EXPECT_EQ(kernel::calls_made() - before, 4U);
}

TEST_F(Faults, CloseTheFdAllTheSame) {
    unique_fd fd = test::make_eventfd();
    const int number = fd.release();
    kernel::fail(call::close, EIO);
    EXPECT_EQ(kernel::close(number), io_result::system_error(EIO));
    EXPECT_FALSE(test::is_open(number));
}

TEST(CallsMade, AreCountedForEachThread) {
    const auto before = kernel::calls_made();
    std::thread([] {
        const auto none = kernel::calls_made();
        kernel::count_call();
        EXPECT_EQ(kernel::calls_made(), none + 1);
    }).join();
    EXPECT_EQ(kernel::calls_made(), before);
    kernel::count_call();
    EXPECT_EQ(kernel::calls_made(), before + 1);
}

}  // namespace
}  // namespace eddy::test::call_test
