// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace eddy {

/// The steady clock, which all times use except those whose names say `system`.
using clock = std::chrono::steady_clock;
using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<clock, duration>;
using system_time_point = std::chrono::time_point<std::chrono::system_clock, duration>;

/// A deadline that is never reached.
inline constexpr time_point never = time_point::max();

/// `from + delay` for any delay. A sum beyond the clock's limits is the limit: it does not wrap.
constexpr time_point saturating_add(time_point from, duration delay) noexcept {
    const auto base = from.time_since_epoch().count();
    duration::rep sum = 0;
    if (!__builtin_add_overflow(base, delay.count(), &sum)) {
        return time_point(duration(sum));
    }
    return delay.count() > 0 ? time_point::max() : time_point::min();
}

}  // namespace eddy
