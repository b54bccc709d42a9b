// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/context.hpp"

namespace bench {

/// Syscalls and user-space instructions an event, with one thread.
void measure_pollset_counts(context& c);

}  // namespace bench
