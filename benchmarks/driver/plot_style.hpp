// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/svg.hpp"

namespace bench {

/// What all parts of the plot look like.
inline constexpr double panel_width = 400;
inline constexpr double panel_gap = 20;
inline constexpr const char* ink = "#1e293b";
inline constexpr const char* pale_ink = "#64748b";
inline constexpr const char* grid = "#e2e8f0";

/// Says what the colours mean, from left to right.
class plot_key {
public:
    plot_key(svg& out, double left, double top) : out_(out), x_(left), top_(top) {}

    void add(const char* fill, const std::string& what) {
        out_.rectangle(x_, top_, 12, 12, fill, "rx=\"1.5\"");
        out_.text(x_ + 17, top_ + 10, what, 11, pale_ink);
        x_ += 34 + 6.3 * static_cast<double>(what.size());
    }

private:
    svg& out_;
    double x_;
    double top_;
};

}  // namespace bench
