#pragma once

#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

/// What is thrown for an error where errors are thrown.
template <class Error>
std::exception_ptr error_to_exception(Error&& error) noexcept {
    if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>) {
        return static_cast<Error&&>(error);
    } else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>) {
        return std::make_exception_ptr(std::system_error(error));
    } else {
        return std::make_exception_ptr(static_cast<Error&&>(error));
    }
}

}  // namespace detail
}  // namespace eddy::ex
