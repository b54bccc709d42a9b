#pragma once

#include "kernel/call.hpp"

#include <eddy/base/error.hpp>

#include <cerrno>

namespace eddy::kernel {

/// What a call has returned: a value, or -1 for errno.
inline io_result result_of(std::int64_t returned) noexcept {
    return returned >= 0 ? io_result::value(returned) : io_result::system_error(errno);
}

/// Makes a call: the value of `function`, or errno where that is negative.
template <class Function>
io_result once(call which, Function&& function) noexcept {
    count_call();
    if (const int error = injected(which); error != 0) {
        return io_result::system_error(error);
    }
    return result_of(function());
}

/// Tries again after EINTR.
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
