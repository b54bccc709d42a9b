// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/results.hpp"
#include "driver/svg.hpp"

namespace bench {

/// Lines over what grows, both axes logarithmic. Returns where they end; `top` if there are none.
double draw_growth(svg& out, const results& all, double left, double top);

}  // namespace bench
