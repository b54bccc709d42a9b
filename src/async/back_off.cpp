// SPDX-License-Identifier: Apache-2.0

// Computes the delays between the tries of retry().
#include <eddy/async/detail/compose/back_off.hpp>

#include <eddy/base/assert.hpp>

#include <algorithm>

namespace eddy::detail {

back_off::back_off(const retry_policy& policy) noexcept
    : policy_(policy),
      delay_ns_(static_cast<double>(policy.delay.count())),
      tries_left_(policy.tries_max),
      random_(policy.seed) {
    EDDY_ASSERT(
        policy.tries_max != 0 && policy.delay >= duration::zero() &&
            policy.delay_max >= duration::zero() && policy.factor >= 0 && policy.jitter >= 0 &&
            policy.jitter <= 1,
        "a retry policy needs at least one try, no negative times, and a jitter from 0 to 1");
    --tries_left_;
    if (random_ == 0) {
        random_ = static_cast<std::uint64_t>(clock::now().time_since_epoch().count()) ^
                  reinterpret_cast<std::uintptr_t>(this);
    }
}

std::optional<duration> back_off::next() noexcept {
    if (tries_left_ == 0) return std::nullopt;
    --tries_left_;
    const double longest_ns = std::min(delay_ns_, static_cast<double>(policy_.delay_max.count()));
    delay_ns_ = longest_ns * policy_.factor;
    const double delay_ns = longest_ns * (1 - policy_.jitter * random());
    // As a double, the longest duration is one nanosecond more than a duration can hold.
    return delay_ns < static_cast<double>(duration::max().count())
               ? duration(static_cast<duration::rep>(delay_ns))
               : duration::max();
}

/// Returns a number from 0 up to 1, by mixing the bits of a counter (constants of SplitMix64).
double back_off::random() noexcept {
    std::uint64_t bits = random_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace eddy::detail
