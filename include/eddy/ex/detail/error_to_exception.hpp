// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

/// The exception to throw for an error. If making it fails (a std::system_error allocates its
/// message), the result is the exception of that failure, such as std::bad_alloc.
template <class Error>
std::exception_ptr error_to_exception(Error&& error) noexcept try {
    if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>) {
        return static_cast<Error&&>(error);
    } else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>) {
        return std::make_exception_ptr(std::system_error(error));
    } else {
        return std::make_exception_ptr(static_cast<Error&&>(error));
    }
} catch (...) {
    return std::current_exception();
}

}  // namespace detail
}  // namespace eddy::ex
