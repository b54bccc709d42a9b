// SPDX-License-Identifier: Apache-2.0

// The calls of pollsets, counted by strace.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Calls of the kernel an event, of all threads, as strace sees them: also those that a library
/// does not know of, such as those of a mutex that is taken.
void measure_pollset_calls(context& c);

}  // namespace bench
