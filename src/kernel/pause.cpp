// SPDX-License-Identifier: Apache-2.0

// Implements sleeping for a time, and yielding.
#include "kernel/pause.hpp"

#include "kernel/once.hpp"

#include <algorithm>
#include <ctime>

#include <sched.h>

namespace eddy::kernel {

void pause_for(duration time) noexcept {
    const auto ns = std::max<duration::rep>(time.count(), 0);
    timespec length{};
    length.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    length.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    once(call::sleep,
         [&] { return result_of_error(::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr)); });
}

void yield() noexcept {
    once(call::yield, [] { return ::sched_yield(); });
}

}  // namespace eddy::kernel
