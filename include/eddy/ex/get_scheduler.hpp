// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/env.hpp>
#include <eddy/ex/scheduler.hpp>

namespace eddy::ex {

namespace detail {

/// Base of the queries for a scheduler. Lifetime: the answer may be part of the environment. Many
/// environments exist only for one query, so a caller that keeps the answer copies it.
template <class Query>
struct scheduler_query {
    template <class Env>
        requires has_query<Env, Query>
    constexpr decltype(auto) operator()(const Env& env) const noexcept {
        static_assert(noexcept(env.query(Query{})), "a scheduler query must be noexcept");
        static_assert(scheduler<query_result_t<Env, Query>>, "the answer is not a scheduler");
        return env.query(Query{});
    }
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};

}  // namespace detail

/// The query for the scheduler on which the operation was started, to which some algorithms return.
struct get_start_scheduler_t : detail::scheduler_query<get_start_scheduler_t> {};
inline constexpr get_start_scheduler_t get_start_scheduler{};

/// The query for the scheduler for new work. If the environment does not answer, the answer is that
/// of get_start_scheduler.
struct get_scheduler_t : detail::scheduler_query<get_scheduler_t> {
    using detail::scheduler_query<get_scheduler_t>::operator();
    template <class Env>
        requires(!detail::has_query<Env, get_scheduler_t> &&
                 detail::has_query<Env, get_start_scheduler_t>)
    constexpr decltype(auto) operator()(const Env& env) const noexcept {
        return get_start_scheduler(env);
    }
};
inline constexpr get_scheduler_t get_scheduler{};

/// The query for a scheduler on which the waiting thread makes progress.
struct get_delegation_scheduler_t : detail::scheduler_query<get_delegation_scheduler_t> {};
inline constexpr get_delegation_scheduler_t get_delegation_scheduler{};

}  // namespace eddy::ex

#endif
