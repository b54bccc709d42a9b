// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/engine_kind.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace demo {

struct echo_figures {
    std::string engine;
    std::string note;  ///< why there are no figures
    double requests_per_s = 0;
    double p50_us = 0;
    double p99_us = 0;
    double syscalls_per_request = 0;
    double allocations_per_request = 0;
};

/// Serves TCP echo to `connections` clients of this process for `time`, on one thread.
echo_figures measure_echo(eddy::engine_kind engine, std::size_t connections,
                          std::chrono::duration<double> time);

}  // namespace demo
