// SPDX-License-Identifier: Apache-2.0

// Cancels waits for signals, and moves them between priorities.
#include <eddy/os/signal_wait.hpp>

#include <eddy/os/signal_source.hpp>

namespace eddy {

void signal_wait::cancel() noexcept {
    if (!pending()) {
        return;
    }
    detail::source_waits<signal_wait>::erase(*this);
    if (source_ != nullptr) {
        source_->no_longer_wanted(signals_);
    }
}

void signal_wait::moved() noexcept {
    if (source_ != nullptr) {
        source_->moved(*this);
    }
}

}  // namespace eddy
