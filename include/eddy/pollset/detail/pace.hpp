// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <cstdint>

namespace eddy::detail {

/// How fast closures are run. They are brisk while they take less than it costs to share what they
/// touch with another core.
class pace {
public:
    /// What is said holds for about so long.
    static constexpr duration window = std::chrono::microseconds(100);

    void ran_one() noexcept { ++ran_; }
    /// What they were since the last answer; that answer again, if it is not older than the window.
    bool is_brisk(time_point now) noexcept;

private:
    std::uint32_t ran_ = 0;
    bool brisk_ = false;
    time_point since_;
};

}  // namespace eddy::detail
