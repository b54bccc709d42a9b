// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/results.hpp"

namespace bench {

/// Draws every ratio to the reference as an SVG: a panel a case, a bar a subject. Throws
/// std::runtime_error.
void write_plot(const results& all, const std::string& file);

/// FILE with its ending replaced by .svg.
std::string plot_name(const std::string& json_name);

}  // namespace bench
