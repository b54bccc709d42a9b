// SPDX-License-Identifier: Apache-2.0

// Implements sleeping on a futex.
#include "kernel/futex.hpp"

#include "kernel/once.hpp"

#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace eddy::kernel {

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 time_point until) noexcept {
    timespec deadline{};
    if (until != never) {
        // The steady clock is CLOCK_MONOTONIC. Nobody waits until a time before its zero.
        const auto since = until > time_point() ? until.time_since_epoch() : duration::zero();
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
        deadline.tv_sec = static_cast<time_t>(seconds.count());
        deadline.tv_nsec = static_cast<long>((since - seconds).count());
    }
    const timespec* const end = until != never ? &deadline : nullptr;
    // FUTEX_WAIT_BITSET takes an absolute deadline, unlike FUTEX_WAIT.
    once(call::futex_wait, [&] {
        return ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, end, nullptr,
                         FUTEX_BITSET_MATCH_ANY);
    });
}

void wake_one(const std::atomic<std::uint32_t>* word) noexcept {
    once(call::futex_wake,
         [&] { return ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); });
}

}  // namespace eddy::kernel
