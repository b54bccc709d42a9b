// SPDX-License-Identifier: Apache-2.0
#include "kernel/thread.hpp"
#include "support/patience.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace eddy::test::thread_test {
namespace {

TEST(KernelThread, TellsThatItWasPushedOffItsCore) {
    const unsigned core = kernel::current_core();
    std::atomic<bool> done = false;
    bool pushed = false;
    std::thread one([&] {
        ASSERT_FALSE(kernel::pin_to_core(core));
        const auto before = kernel::preemptions();
        const auto limit = std::chrono::steady_clock::now() + patience;
        while (!pushed && std::chrono::steady_clock::now() < limit) {
            pushed = kernel::preemptions() > before;
        }
        done = true;
    });
    std::thread another([&] {
        ASSERT_FALSE(kernel::pin_to_core(core));
        while (!done) {}
    });
    one.join();
    another.join();
    EXPECT_TRUE(pushed);
}

}  // namespace
}  // namespace eddy::test::thread_test
