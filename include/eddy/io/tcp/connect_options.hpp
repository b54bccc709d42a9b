// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::tcp {

/// Options of tcp::connect() and tcp::connect_any().
struct connect_options {
    /// Sends small writes at once (TCP_NODELAY). If false, a small write may wait for the
    /// acknowledgement of the one before it, 40 ms or longer. To gather small writes into one
    /// segment, use buffered().
    bool no_delay = true;
};

}  // namespace eddy::tcp
