// SPDX-License-Identifier: Apache-2.0

// Turns the completions of senders into values, signatures and exceptions.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/sender.hpp>

#include <exception>
#include <system_error>
#include <tuple>
#include <type_traits>

namespace eddy::detail {

/// Makes a std::system_error with this code. It names the subject of the operation that is
/// completing with this error on this thread, if there is one (error_naming).
EDDY_API std::exception_ptr system_error_of(const std::error_code& code) noexcept;
/// Makes a std::system_error with this code and nothing else, or a std::bad_alloc if there is no
/// memory for its message.
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

/// The values of a sender that completes with one set of values, as a std::tuple; empty if it never
/// completes with values.
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
/// The signature of a completion with a T, or with nothing if T is void.
template <class T>
using value_signature_t = typename value_signature<T>::type;

/// Makes the exception for an error, where errors are thrown. If that fails, the result is the
/// exception that it failed with.
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
