// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>

#include <cstdint>
#include <optional>

namespace eddy {

/// Says how often retry() tries, and how long it waits between tries.
struct retry_policy {
    /// Number of tries, including the first.
    unsigned tries_max = 5;
    /// Delay before the second try; each further one grows by `factor`, up to `delay_max`.
    duration delay = std::chrono::milliseconds(100);
    double factor = 2;
    duration delay_max = std::chrono::seconds(30);
    /// Random part of each delay, so that many clients that failed together do not retry together:
    /// with 0.25, a delay is 75 % to 100 % of its length.
    double jitter = 0.25;
    /// Seed of the random numbers; 0 means a different one each time.
    std::uint64_t seed = 0;
};

namespace detail {

/// Computes the delays of a retry policy.
class back_off {
public:
    EDDY_API explicit back_off(const retry_policy& policy) noexcept;
    /// Returns the delay before the next try, or nothing if no try is left.
    EDDY_API std::optional<duration> next() noexcept;

private:
    double random() noexcept;

    retry_policy policy_;
    double delay_ns_;
    unsigned tries_left_;
    std::uint64_t random_;
};

}  // namespace detail
}  // namespace eddy
