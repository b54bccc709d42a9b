// SPDX-License-Identifier: Apache-2.0

// Blocks signals in the calling thread.
#include <eddy/os/block_signals.hpp>

#include "kernel/signal.hpp"

#include <system_error>

namespace eddy {

signal_set block_signals(signal_set signals) {
    const signal_set before(kernel::signal_mask());
    if (auto error = kernel::block_signals(signals.native())) {
        throw std::system_error(error, "cannot block signals");
    }
    return before;
}

signal_set original_mask() noexcept { return signal_set(kernel::original_mask()); }

}  // namespace eddy
