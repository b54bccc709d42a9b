// SPDX-License-Identifier: Apache-2.0

// The suite `memory`.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// User-space memory for each idle connection of the echo servers.
void measure_memory(context& c);

}  // namespace bench
