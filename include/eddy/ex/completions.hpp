// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

/// True for a non-const rvalue, the only receiver that can be completed: completing consumes it.
template <class Receiver>
concept consumable = !std::is_reference_v<Receiver> && !std::is_const_v<Receiver>;

}  // namespace detail

/// Completes an operation with values. An operation completes exactly once, with one of set_value,
/// set_error and set_stopped.
/// Lifetime: the receiver may destroy the operation in the call, so touch no part of it afterwards.
struct set_value_t {
    template <detail::consumable Receiver, class... Values>
        requires requires(Receiver&& receiver, Values&&... values) {
            static_cast<Receiver&&>(receiver).set_value(static_cast<Values&&>(values)...);
        }
    constexpr void operator()(Receiver&& receiver, Values&&... values) const noexcept {
        using result = decltype(std::declval<Receiver>().set_value(std::declval<Values>()...));
        static_assert(std::is_void_v<result>, "set_value: the receiver's member must return void");
        static_assert(noexcept(std::declval<Receiver>().set_value(std::declval<Values>()...)),
                      "set_value: the receiver's member must be noexcept");
        static_cast<Receiver&&>(receiver).set_value(static_cast<Values&&>(values)...);
    }
};

struct set_error_t {
    template <detail::consumable Receiver, class Error>
        requires requires(Receiver&& receiver, Error&& error) {
            static_cast<Receiver&&>(receiver).set_error(static_cast<Error&&>(error));
        }
    constexpr void operator()(Receiver&& receiver, Error&& error) const noexcept {
        using result = decltype(std::declval<Receiver>().set_error(std::declval<Error>()));
        static_assert(std::is_void_v<result>, "set_error: the receiver's member must return void");
        static_assert(noexcept(std::declval<Receiver>().set_error(std::declval<Error>())),
                      "set_error: the receiver's member must be noexcept");
        static_cast<Receiver&&>(receiver).set_error(static_cast<Error&&>(error));
    }
};

struct set_stopped_t {
    template <detail::consumable Receiver>
        requires requires(Receiver&& receiver) { static_cast<Receiver&&>(receiver).set_stopped(); }
    constexpr void operator()(Receiver&& receiver) const noexcept {
        using result = decltype(std::declval<Receiver>().set_stopped());
        static_assert(std::is_void_v<result>,
                      "set_stopped: the receiver's member must return void");
        static_assert(noexcept(std::declval<Receiver>().set_stopped()),
                      "set_stopped: the receiver's member must be noexcept");
        static_cast<Receiver&&>(receiver).set_stopped();
    }
};

inline constexpr set_value_t set_value{};
inline constexpr set_error_t set_error{};
inline constexpr set_stopped_t set_stopped{};

}  // namespace eddy::ex

#endif
