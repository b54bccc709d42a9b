// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/unique_fd.hpp"

namespace bench {

/// What a client does: so many connections, each with `pipeline` requests of `bytes` under way.
struct load_shape {
    unsigned connections = 1;
    std::size_t bytes = 64;
    unsigned pipeline = 1;

    std::size_t bytes_a_batch() const noexcept { return bytes * pipeline; }
    unsigned requests_a_burst() const noexcept { return connections * pipeline; }
    std::string name() const;
};

/// Opens blocking connections to 127.0.0.1:port whose every wait is bounded. They are closed with a
/// reset, so that thousands of them leave no TIME_WAIT behind. Throws std::runtime_error.
std::vector<unique_fd> connect_all(int port, unsigned count);

}  // namespace bench
