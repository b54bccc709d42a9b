// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/call.hpp"

#include <eddy/base/error.hpp>

#include <cerrno>
#include <cstdint>

/// The door to the kernel: all calls of the library are made through once() or surely(), so that
/// none is forgotten in a count, and a test can make each fail.
namespace eddy::kernel {

/// What a call has returned: a value, or -1 for errno.
inline io_result result_of(std::int64_t returned) noexcept {
    return returned >= 0 ? io_result::value(returned) : io_result::system_error(errno);
}
/// What pthread functions return: 0, or an error.
constexpr io_result result_of_error(int error) noexcept {
    return error == 0 ? io_result::value(0) : io_result::system_error(error);
}

namespace detail {
constexpr io_result as_result(io_result result) noexcept { return result; }
inline io_result as_result(std::int64_t returned) noexcept { return result_of(returned); }
}  // namespace detail

/// Makes a call. `function` returns an io_result, or what the C library does: a negative number
/// stands for errno.
template <class Function>
[[gnu::always_inline]] inline io_result once(call which, Function&& function) noexcept {
    ++detail::calls;
    if (const int error = injected(which); error != 0) {
        return io_result::system_error(error);
    }
    return detail::as_result(function());
}

/// Makes a call that must never be left out: one that a test lets fail is made, too.
template <class Function>
io_result surely(call which, Function&& function) noexcept {
    ++detail::calls;
    const int error = injected(which);
    const io_result result = detail::as_result(function());
    return error != 0 ? io_result::system_error(error) : result;
}

}  // namespace eddy::kernel
