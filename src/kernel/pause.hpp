// SPDX-License-Identifier: Apache-2.0

// Giving the processor to other threads.
#pragma once

#include <eddy/base/clock.hpp>

namespace eddy::kernel {

/// Sleeps for `time`. A signal or an injected fault ends the sleep early, so callers check again
/// for the condition that they wait for.
void pause_for(duration time) noexcept;

/// Lets other ready threads run.
void yield() noexcept;

}  // namespace eddy::kernel
