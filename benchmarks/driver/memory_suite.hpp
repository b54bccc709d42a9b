// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/context.hpp"

namespace bench {

/// User-space memory for each idle connection of the echo servers.
void measure_memory(context& c);

}  // namespace bench
