// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <concepts>

namespace eddy::ex {

namespace detail {

template <template <class> class>
struct template_exists;

template <class T>
concept boolean_like = std::convertible_to<T, bool>;

}  // namespace detail

template <class Token, class Callback>
using stop_callback_for_t = typename Token::template callback_type<Callback>;

/// A token that says if a stop was requested, and with which callbacks can be registered.
template <class Token>
concept stoppable_token =
    std::copyable<Token> && std::equality_comparable<Token> && requires(const Token token) {
        typename detail::template_exists<Token::template callback_type>;
        { token.stop_requested() } noexcept -> detail::boolean_like;
        { token.stop_possible() } noexcept -> detail::boolean_like;
        { Token(token) } noexcept;
    };

template <class Token>
concept unstoppable_token = stoppable_token<Token> && requires {
    { Token::stop_possible() } -> detail::boolean_like;
    requires !Token::stop_possible();
};

class never_stop_token {
    struct callback {
        explicit callback(never_stop_token, auto&&) noexcept {}
    };

public:
    template <class>
    using callback_type = callback;

    static constexpr bool stop_requested() noexcept { return false; }
    static constexpr bool stop_possible() noexcept { return false; }
    bool operator==(const never_stop_token&) const = default;
};

}  // namespace eddy::ex

#endif
