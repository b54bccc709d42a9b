// SPDX-License-Identifier: Apache-2.0
#include "kernel/pause.hpp"
#include "kernel/call.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace eddy::test::pause_test {
namespace {

using namespace std::chrono_literals;

TEST(KernelPause, TakesItsTimeAndIsCounted) {
    const auto before = kernel::calls_made();
    const time_point start = clock::now();
    kernel::pause_for(2ms);
    EXPECT_GE(clock::now() - start, 2ms);
    EXPECT_EQ(kernel::calls_made() - before, 1U);
}

TEST(KernelPause, EndsAtOnceIfItIsInterrupted) {
    kernel::fail(kernel::call::sleep, EINTR);
    kernel::pause_for(1h);
    EXPECT_EQ(kernel::fired(kernel::call::sleep), 1U);
    kernel::fail_nothing();
}

TEST(KernelPause, OfATimeThatIsOverIsNone) {
    kernel::pause_for(-1h);
    kernel::pause_for(0ns);
}

TEST(KernelYield, IsCounted) {
    const auto before = kernel::calls_made();
    kernel::yield();
    EXPECT_EQ(kernel::calls_made() - before, 1U);
}

}  // namespace
}  // namespace eddy::test::pause_test
