// SPDX-License-Identifier: Apache-2.0

// The door to the kernel. All calls of the library go through once() or surely(), so that every
// call is counted and a test can make each call fail.
#pragma once

#include "kernel/call.hpp"

#include <eddy/base/error.hpp>

#include <cerrno>
#include <cstdint>

namespace eddy::kernel {

/// Converts the return value of a C library call: a value, or -1 with errno set.
inline io_result result_of(std::int64_t returned) noexcept {
    return returned >= 0 ? io_result::value(returned) : io_result::system_error(errno);
}
/// Converts the return value of a pthread function: 0, or an error.
constexpr io_result result_of_error(int error) noexcept {
    return error == 0 ? io_result::value(0) : io_result::system_error(error);
}

namespace detail {
constexpr io_result as_result(io_result result) noexcept { return result; }
inline io_result as_result(std::int64_t returned) noexcept { return result_of(returned); }
}  // namespace detail

/// Makes a call. `function` returns an io_result, or a C library value in which a negative number
/// stands for errno.
template <class Function>
[[gnu::always_inline]] inline io_result once(call which, Function&& function) noexcept {
    ++detail::calls;
    if (const int error = injected(which); error != 0) {
        return io_result::system_error(error);
    }
    return detail::as_result(function());
}

/// Makes a call that must never be skipped: it is made even if a test lets it fail.
template <class Function>
io_result surely(call which, Function&& function) noexcept {
    ++detail::calls;
    const int error = injected(which);
    const io_result result = detail::as_result(function());
    return error != 0 ? io_result::system_error(error) : result;
}

}  // namespace eddy::kernel
