// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "driver/results.hpp"
#include "driver/svg.hpp"

namespace bench {

/// Draws how streams with weights of 3 and 1 share a loop: a panel a subject, a line a case.
/// Returns where it ends.
double draw_shares(svg& out, const std::vector<curve>& curves, double left, double top);

}  // namespace bench
