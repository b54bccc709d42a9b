// SPDX-License-Identifier: Apache-2.0
#include "kernel/os_thread.hpp"
#include "kernel/call.hpp"

#include <cerrno>
#include <system_error>

#include <gtest/gtest.h>

namespace eddy::test::os_thread_test {
namespace {

void* note(void* where) {
    *static_cast<pthread_t*>(where) = ::pthread_self();
    return nullptr;
}

TEST(KernelThread, RunsUntilItIsJoined) {
    pthread_t other = ::pthread_self();
    kernel::os_thread thread;
    ASSERT_FALSE(thread.start(&note, &other));
    EXPECT_TRUE(thread.joinable());
    thread.join();
    EXPECT_FALSE(thread.joinable());
    EXPECT_EQ(::pthread_equal(other, ::pthread_self()), 0);
}

TEST(KernelThread, ThatCannotStartIsAnErrorAndNeedsNoJoin) {
    pthread_t other{};
    kernel::os_thread thread;
    kernel::fail(kernel::call::thread, EAGAIN);
    EXPECT_EQ(thread.start(&note, &other), std::errc::resource_unavailable_try_again);
    kernel::fail_nothing();
    EXPECT_FALSE(thread.joinable());
    thread.join();
    EXPECT_FALSE(thread.start(&note, &other));
    thread.join();
}

}  // namespace
}  // namespace eddy::test::os_thread_test
