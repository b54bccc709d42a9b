// SPDX-License-Identifier: Apache-2.0

// The suite `growth`.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Measures the cost of a request with more and more connections, and of a timer among more and
/// more timers.
void measure_growth(context& c);

}  // namespace bench
