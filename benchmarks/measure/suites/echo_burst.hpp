// SPDX-License-Identifier: Apache-2.0

// The suite `echo` in burst mode.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Server CPU time a request in burst mode: the headline.
void measure_echo_burst(context& c);

}  // namespace bench
