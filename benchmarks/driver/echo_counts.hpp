// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/context.hpp"

namespace bench {

/// Syscalls, user-space instructions and allocations a request: counts that no noise touches.
void measure_echo_counts(context& c);

}  // namespace bench
