// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <atomic>
#include <cstdint>

/// Sleeping on a word of this process's memory.
namespace eddy::kernel {

/// Sleeps while `word` is `value`, until it is woken, at most until the deadline. May return early
/// for no reason.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 time_point until) noexcept;

/// Wakes one sleeper. `word` is only an address: it may have been freed.
void wake_one(const std::atomic<std::uint32_t>* word) noexcept;

}  // namespace eddy::kernel
