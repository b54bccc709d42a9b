// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/env.hpp>

namespace eddy::ex {

/// The query for an environment's allocator. An environment without one does not answer.
struct get_allocator_t {
    template <class Env>
        requires detail::has_query<Env, get_allocator_t>
    constexpr decltype(auto) operator()(const Env& env) const noexcept {
        static_assert(noexcept(env.query(*this)), "get_allocator: the answer must be noexcept");
        return env.query(*this);
    }
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};
inline constexpr get_allocator_t get_allocator{};

}  // namespace eddy::ex

#endif
