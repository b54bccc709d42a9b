#pragma once

#include "driver/context.hpp"

namespace bench {

/// Requests a second and latency with the client on another core. Informative only.
void measure_echo_two_core(context& c);

}  // namespace bench
