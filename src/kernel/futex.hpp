// SPDX-License-Identifier: Apache-2.0

// Sleeping on a word of this process's memory.
#pragma once

#include <eddy/base/clock.hpp>

#include <atomic>
#include <cstdint>

namespace eddy::kernel {

/// Sleeps while `word` is `value`, until a wake-up or the deadline. May return early for no reason.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 time_point until) noexcept;

/// Wakes one sleeper. `word` serves only as an address: the memory may have been freed.
void wake_one(const std::atomic<std::uint32_t>* word) noexcept;

}  // namespace eddy::kernel
