// SPDX-License-Identifier: Apache-2.0

// The counts of the suite `echo`.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Syscalls, user-space instructions and allocations a request: counts that no noise touches.
void measure_echo_counts(context& c);

}  // namespace bench
