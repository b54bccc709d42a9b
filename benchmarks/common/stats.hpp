// SPDX-License-Identifier: Apache-2.0

// Quantiles of what a program has measured itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The value below which the given share lies, interpolated. `values` must be sorted.
inline double quantile(const std::vector<double>& values, double share) {
    if (values.empty()) return std::nan("");
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

}  // namespace bench
