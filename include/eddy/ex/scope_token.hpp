// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>

#include <concepts>
#include <exception>
#include <type_traits>

namespace eddy::ex {

/// One piece of work counted by a scope. Converts to false if the scope is closed.
template <class Association>
concept scope_association =
    std::movable<Association> && std::is_nothrow_move_constructible_v<Association> &&
    std::is_nothrow_move_assignable_v<Association> && std::default_initializable<Association> &&
    requires(const Association association) {
        { static_cast<bool>(association) } noexcept;
        { association.try_associate() } -> std::same_as<Association>;
    };

namespace detail {

struct scope_test_sender {
    using sender_concept = sender_tag;
    struct operation {
        using operation_state_concept = operation_state_tag;
        operation() = default;
        operation(operation&&) = delete;
        void start() & noexcept {}
    };

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return completion_signatures<set_value_t(int), set_error_t(std::exception_ptr),
                                     set_stopped_t()>{};
    }
    operation connect(receiver auto) const noexcept { return {}; }
};

}  // namespace detail

/// Makes associations with a scope, and wraps the senders that run under them.
template <class Token>
concept scope_token = std::copyable<Token> && requires(const Token token) {
    { token.try_associate() } -> scope_association;
    { token.wrap(detail::scope_test_sender{}) } -> sender_in<env<>>;
};

}  // namespace eddy::ex

#endif
