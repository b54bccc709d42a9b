#pragma once

#include "kernel/call.hpp"

#include <eddy/base/error.hpp>

#include <cerrno>

namespace eddy::kernel {

/// Makes a call that returns -1 and sets errno if it fails; again, if it was interrupted.
template <class Function>
io_result retried(call which, Function&& function) noexcept {
    for (;;) {
        count_call();
        int error = injected(which);
        if (error == 0) {
            const auto result = function();
            if (result >= 0) {
                return io_result::value(result);
            }
            error = errno;
        }
        if (error != EINTR) {
            return io_result::system_error(error);
        }
    }
}

}  // namespace eddy::kernel
