// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <cstdint>

namespace eddy::detail {

/// Measures how fast closures are run. They are brisk while they take less time than it costs to
/// share what they touch with another core.
class pace {
public:
    /// How long an answer holds, roughly.
    static constexpr duration window = std::chrono::microseconds(100);

    void ran_one() noexcept { ++ran_; }
    /// True if closures were brisk since the last answer. Repeats that answer within the window.
    bool is_brisk(time_point now) noexcept;

private:
    std::uint32_t ran_ = 0;
    bool brisk_ = false;
    time_point since_;
};

}  // namespace eddy::detail
