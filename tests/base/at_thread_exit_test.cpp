// SPDX-License-Identifier: Apache-2.0
#include "base/at_thread_exit.hpp"

#include "support/in_child.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::at_thread_exit_test {
namespace {

std::atomic<int> calls = 0;

void count() noexcept { ++calls; }

TEST(AtThreadExit, CallsAtTheEndOfEachThreadThatWasArmed) {
    const int before = calls;
    std::thread([] {
        EXPECT_TRUE(at_thread_exit<&count>::arm());
        EXPECT_TRUE(at_thread_exit<&count>::arm());
    }).join();
    EXPECT_EQ(calls, before + 1);
    std::thread([] {}).join();
    EXPECT_EQ(calls, before + 1);
}

constexpr int refused = 3;

void nothing() noexcept {}

/// Made before the thread is armed, so that it is destroyed when the key is gone.
struct static_object {
    ~static_object() {
        const bool armed = at_thread_exit<&nothing>::arm();
        // Most likely it has the number of the one that is gone.
        pthread_key_t other{};
        const bool made = ::pthread_key_create(&other, nullptr) == 0;
        const bool armed_with_other = at_thread_exit<&nothing>::arm();
        const bool other_is_set = made && ::pthread_getspecific(other) != nullptr;
        ::_exit(armed || armed_with_other || other_is_set ? 1 : refused);
    }
};

TEST(AtThreadExit, ArmsNothingWhenStaticObjectsAreDestroyed) {
    const int ended = in_child([] {
        static const static_object made_before;
        EXPECT_TRUE(at_thread_exit<&nothing>::arm());
        std::exit(1);
        return 1;
    });
    EXPECT_EQ(ended, refused);
}

}  // namespace
}  // namespace eddy::test::at_thread_exit_test
