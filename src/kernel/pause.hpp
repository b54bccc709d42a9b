// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

/// Giving the processor to others.
namespace eddy::kernel {

/// Sleeps for that time. A signal ends it early, as a fault does: callers look again whether what
/// they wait for has happened.
void pause_for(duration time) noexcept;

/// Lets other threads run that are ready.
void yield() noexcept;

}  // namespace eddy::kernel
