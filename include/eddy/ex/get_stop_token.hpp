// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/env.hpp>
#include <eddy/ex/stop_token.hpp>

#include <type_traits>

namespace eddy::ex {

/// The query for an environment's stop token. The default is a token that never stops.
struct get_stop_token_t {
    template <class Env>
    constexpr decltype(auto) operator()(const Env& env) const noexcept {
        if constexpr (detail::has_query<Env, get_stop_token_t>) {
            using token = std::remove_cvref_t<detail::query_result_t<Env, get_stop_token_t>>;
            static_assert(stoppable_token<token>, "get_stop_token: the answer is no stop token");
            static_assert(noexcept(env.query(*this)),
                          "get_stop_token: the answer must be noexcept");
            return env.query(*this);
        } else {
            return never_stop_token{};
        }
    }
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};
inline constexpr get_stop_token_t get_stop_token{};

template <class Env>
using stop_token_of_t = std::remove_cvref_t<decltype(get_stop_token(std::declval<Env>()))>;

}  // namespace eddy::ex

#endif
