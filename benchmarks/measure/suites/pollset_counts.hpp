// SPDX-License-Identifier: Apache-2.0

// The counts of pollsets with one thread.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Syscalls and user-space instructions an event, with one thread.
void measure_pollset_counts(context& c);

}  // namespace bench
