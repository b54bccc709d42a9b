// SPDX-License-Identifier: Apache-2.0
// This file is compiled with -finstrument-functions: every function calls these, also those that
// are in line. They may use what registers they like.
#include "kernel/direct.hpp"
#include "support/fds.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__)
#define EDDY_SPOIL_REGISTERS \
    asm volatile("mov $1, %%r8\n\tmov $1, %%r9\n\tmov $1, %%r10" ::: "r8", "r9", "r10")
#else
#define EDDY_SPOIL_REGISTERS static_cast<void>(0)
#endif

extern "C" {
[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void*, void*) {
    EDDY_SPOIL_REGISTERS;
}
[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) { EDDY_SPOIL_REGISTERS; }
}

namespace eddy::test::instrumented_test {
namespace {

TEST(DirectCalls, AreMadeWithTheirArgumentsInAnInstrumentedProgramToo) {
    const fd_pair pair = unix_stream_pair();
    EXPECT_EQ(kernel::direct::send(pair.first.get(), "four", 4, MSG_NOSIGNAL), io_result::value(4));
    char data[8] = {};
    EXPECT_EQ(kernel::direct::recv(pair.second.get(), data, sizeof data, MSG_DONTWAIT),
              io_result::value(4));
}

}  // namespace
}  // namespace eddy::test::instrumented_test
