// SPDX-License-Identifier: Apache-2.0
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

/// Median and quartiles: robust where a mean would follow every hiccup of the machine.
struct summary {
    double median = std::nan("");
    double q1 = std::nan("");
    double q3 = std::nan("");

    bool valid() const noexcept { return !std::isnan(median); }
    double spread() const noexcept { return (q3 - q1) / 2; }
};

inline summary summarise(std::vector<double> values) {
    std::erase_if(values, [](double v) { return std::isnan(v); });
    std::sort(values.begin(), values.end());
    return {quantile(values, .5), quantile(values, .25), quantile(values, .75)};
}

}  // namespace bench
