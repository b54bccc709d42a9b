// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/once.hpp"

#include <cerrno>

namespace eddy::kernel {

/// Repeats a call until it ends with something other than EINTR.
template <class Try>
io_result retried(Try&& once_more) noexcept {
    for (;;) {
        const io_result result = once_more();
        if (result.system_error() != EINTR) {
            return result;
        }
    }
}
template <class Function>
io_result retried(call which, Function&& function) noexcept {
    return retried([&] { return once(which, function); });
}

}  // namespace eddy::kernel
