// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "load/connections.hpp"

namespace bench {

/// Burst mode: every connection's requests are written, then every reply is read. With client and
/// server on one core the server finds all requests waiting, so a faster server cannot make its own
/// work harder by getting smaller batches. Throws std::runtime_error when a reply does not come.
class burst_load {
public:
    burst_load(int port, load_shape shape);

    const load_shape& shape() const noexcept { return shape_; }

    void one_burst();

    /// Bursts for so long; returns the number of requests that were answered.
    std::uint64_t run_for(std::int64_t duration_ns);

    /// One burst whose replies are compared with what was sent.
    void check();

private:
    load_shape shape_;
    std::vector<unique_fd> connections_;
    std::vector<char> request_;
    std::vector<char> reply_;
};

}  // namespace bench
