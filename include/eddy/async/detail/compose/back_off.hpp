// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>

#include <cstdint>
#include <optional>

namespace eddy {

/// How often and when to try again.
struct retry_policy {
    /// Tries in all, the first one too.
    unsigned tries_max = 5;
    /// Before the second try; each further one is `factor` times as long, at most `delay_max`.
    duration delay = std::chrono::milliseconds(100);
    double factor = 2;
    duration delay_max = std::chrono::seconds(30);
    /// Which part of a delay is random, so that many who failed together do not come again
    /// together: 0.25 means 75 % to 100 % of it.
    double jitter = 0.25;
    /// Of the random numbers; 0: another one each time.
    std::uint64_t seed = 0;
};

namespace detail {

/// The delays of a policy.
class back_off {
public:
    EDDY_API explicit back_off(const retry_policy& policy) noexcept;
    /// How long to wait before the next try; nothing if there is none.
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
