// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/get_scheduler.hpp>

#include <type_traits>

namespace eddy::ex {

template <class Tag>
struct get_completion_scheduler_t;

namespace detail {

/// True if the attributes answer the query, with the environment or without it.
template <class Attributes, class Query, class... Env>
concept answers = has_query<Attributes, Query, const Env&...> || has_query<Attributes, Query>;

template <class Attributes, class Query, class... Env>
constexpr decltype(auto) try_query(const Attributes& attributes, Query query,
                                   const Env&... env) noexcept {
    if constexpr (has_query<Attributes, Query, const Env&...>) {
        static_assert(noexcept(attributes.query(query, env...)), "this query must be noexcept");
        return attributes.query(query, env...);
    } else {
        static_assert(noexcept(attributes.query(query)), "this query must be noexcept");
        return attributes.query(query);
    }
}

template <class Scheduler, class... Env>
constexpr auto last_scheduler(Scheduler scheduler, const Env&... env) noexcept;

}  // namespace detail

/// The query for the scheduler on which a sender completes with `Tag`. It is asked of the sender's
/// attributes, and of the environment of the future connection if that is known.
template <class Tag>
struct get_completion_scheduler_t {
    template <class Attributes, class... Env>
    static consteval int source() {
        if constexpr (detail::answers<Attributes, get_completion_scheduler_t, Env...>) {
            return 1;
        } else if constexpr (detail::answers<Attributes, detail::completes_where_started_t<Tag>,
                                             Env...> &&
                             sizeof...(Env) == 1 &&
                             (detail::has_query<Env, get_start_scheduler_t> && ...)) {
            return 2;
        } else if constexpr (scheduler<Attributes> && sizeof...(Env) == 1) {
            return 3;
        } else {
            return 0;
        }
    }

    template <class Attributes, class... Env>
        requires(sizeof...(Env) <= 1 && source<Attributes, Env...>() != 0)
    constexpr decltype(auto) operator()(const Attributes& attributes,
                                        const Env&... env) const noexcept {
        constexpr int from = source<Attributes, Env...>();
        if constexpr (from == 1) {
            using first = decltype(detail::try_query(attributes, *this, env...));
            if constexpr (detail::answers<first, get_completion_scheduler_t<set_value_t>, Env...>) {
                return detail::last_scheduler(detail::try_query(attributes, *this, env...), env...);
            } else {
                return detail::try_query(attributes, *this, env...);
            }
        } else if constexpr (from == 2) {
            return get_start_scheduler(env...);
        } else {
            return Attributes(attributes);
        }
    }
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};
namespace detail {

/// Follows schedulers that name another one, on which their work completes in the end.
template <class Scheduler, class... Env>
constexpr auto last_scheduler(Scheduler scheduler, const Env&... env) noexcept {
    using query = get_completion_scheduler_t<set_value_t>;
    if constexpr (answers<Scheduler, query, Env...>) {
        using next = std::remove_cvref_t<decltype(detail::try_query(scheduler, query{}, env...))>;
        next other(detail::try_query(scheduler, query{}, env...));
        if constexpr (std::is_same_v<Scheduler, next>) {
            while (!(other == scheduler)) {
                scheduler = other;
                other = detail::try_query(scheduler, query{}, env...);
            }
            return scheduler;
        } else {
            return detail::last_scheduler(other, env...);
        }
    } else {
        return scheduler;
    }
}

}  // namespace detail

template <class Tag>
    requires detail::one_of<Tag, set_value_t, set_error_t, set_stopped_t>
inline constexpr get_completion_scheduler_t<Tag> get_completion_scheduler{};

}  // namespace eddy::ex

#endif
