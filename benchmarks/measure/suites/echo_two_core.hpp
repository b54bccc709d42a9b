// SPDX-License-Identifier: Apache-2.0

// Echo servers whose client has a core of its own.
#pragma once

#include "measure/context.hpp"

namespace bench {

/// Requests a second and latency with the client on another core. Informative only.
void measure_echo_two_core(context& c);

/// One connection on two cores: servers that block, and those that spin before they do.
void measure_spin(context& c);

}  // namespace bench
