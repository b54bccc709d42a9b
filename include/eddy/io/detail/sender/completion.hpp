// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/sender.hpp>

#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>

namespace eddy::detail {

/// A std::system_error with this code. It names the subject of the operation that is completing
/// with this error on this thread, if that has one (error_naming).
EDDY_API std::exception_ptr system_error_of(const std::error_code& code) noexcept;
/// A std::system_error with this code and nothing else; a std::bad_alloc if there is no memory for
/// its message.
EDDY_API std::exception_ptr bare_system_error_of(const std::error_code& code) noexcept;

EDDY_EX_BEGIN

template <class... Values>
using decayed_tuple = std::tuple<std::decay_t<Values>...>;

template <class... Sets>
struct only_set {
    using type = std::tuple<>;
};
template <class First, class... Others>
struct only_set<First, Others...> {
    using type = First;
    static_assert(sizeof...(Others) == 0,
                  "the sender must complete with at most one set of values: await "
                  "ex::into_variant(...) of a when_any of different values");
};

/// The values of a sender that completes with one set of them, as a std::tuple; empty if it never
/// completes with any.
template <class Sender, class Env>
using values_of_t = typename ex::value_types_of_t<Sender, Env, decayed_tuple, only_set>::type;

template <class T>
struct value_signature {
    using type = ex::set_value_t(T);
};
template <>
struct value_signature<void> {
    using type = ex::set_value_t();
};
/// Of a sender of one T, or of nothing if that is void.
template <class T>
using value_signature_t = typename value_signature<T>::type;

/// The exception for an error, where errors are thrown. It is the exception that prevented it from
/// being made if there is one.
template <class Error>
std::exception_ptr to_exception(Error&& error) noexcept try {
    if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>) {
        return static_cast<Error&&>(error);
    } else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>) {
        return system_error_of(error);
    } else {
        return std::make_exception_ptr(static_cast<Error&&>(error));
    }
} catch (...) {
    return std::current_exception();
}

EDDY_EX_END

}  // namespace eddy::detail
