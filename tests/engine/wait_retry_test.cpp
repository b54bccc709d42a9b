// SPDX-License-Identifier: Apache-2.0
#include <eddy/engine/detail/wait_retry.hpp>

#include <cerrno>

#include <gtest/gtest.h>

namespace eddy::test::wait_retry_test {
namespace {

using namespace std::chrono_literals;
using verdict = wait_retry::verdict;

std::error_code system(int error) { return {error, std::system_category()}; }

TEST(WaitRetry, PausesTwiceAsLongEachTimeFromAMillisecondToASecond) {
    wait_retry retry;
    time_point now(1000s);
    auto expected = verdict::first;
    for (const duration pause :
         {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms, 512ms, 1000ms, 1000ms, 1000ms}) {
        ASSERT_EQ(retry.failed(system(ENOMEM), now, 30s), expected);
        EXPECT_EQ(retry.pause(), pause);
        now += retry.pause();
        expected = verdict::again;
    }
}

TEST(WaitRetry, GivesUpAtTheLimit) {
    wait_retry retry;
    const time_point begin(1000s);
    time_point now = begin;
    EXPECT_EQ(retry.failed(system(EAGAIN), now, 30s), verdict::first);
    while (now + retry.pause() < begin + 30s) {
        now += retry.pause();
        ASSERT_EQ(retry.failed(system(EBUSY), now, 30s), verdict::again);
    }
    EXPECT_EQ(retry.failed(system(EINTR), begin + 30s, 30s), verdict::give_up);
    EXPECT_EQ(retry.failed(system(ENOMEM), begin + 31s, 30s), verdict::first) << "it is anew";
}

TEST(WaitRetry, DoesNotCountTimeInWhichNobodyTries) {
    wait_retry retry;
    time_point now(1000s);
    EXPECT_EQ(retry.failed(system(ENOMEM), now, 30s), verdict::first);
    int tries = 1;
    while (retry.failed(system(ENOMEM), now += 1h, 30s) == verdict::again) {
        ASSERT_LT(++tries, 1000);
    }
    EXPECT_GT(tries, 15) << "up to two seconds of each hour count";
}

TEST(WaitRetry, TakesALackOfDescriptorsForOneThatPasses) {
    for (const int error : {EMFILE, ENFILE}) {
        wait_retry retry;
        EXPECT_EQ(retry.failed(system(error), time_point(1000s), 30s), verdict::first);
    }
}

TEST(WaitRetry, GivesUpAtOnceWhenTheErrorStays) {
    for (const int error : {EBADF, EFAULT, EINVAL, EPERM, ENOSYS}) {
        wait_retry retry;
        EXPECT_EQ(retry.failed(system(error), time_point(1000s), 30s), verdict::give_up) << error;
    }
    wait_retry retry;
    EXPECT_EQ(retry.failed(system(ENOMEM), time_point(1000s), 30s), verdict::first);
    EXPECT_EQ(retry.failed(system(EBADF), time_point(1000s), 30s), verdict::give_up);
}

TEST(WaitRetry, BeginsAnewAfterAWaitThatWorked) {
    wait_retry retry;
    const time_point begin(1000s);
    EXPECT_EQ(retry.failed(system(ENOMEM), begin, 30s), verdict::first);
    EXPECT_EQ(retry.failed(system(ENOMEM), begin + 1s, 30s), verdict::again);
    retry.worked();
    EXPECT_EQ(retry.failed(system(ENOMEM), begin + 1h, 30s), verdict::first);
    EXPECT_EQ(retry.pause(), 1ms);
}

}  // namespace
}  // namespace eddy::test::wait_retry_test
