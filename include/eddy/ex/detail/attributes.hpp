#pragma once

#include <eddy/ex/env.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>

#include <type_traits>

namespace eddy::ex {
inline namespace builtin {
namespace detail {

template <class Query>
inline constexpr bool is_completion_query = std::is_same_v<Query, completes_inline_t>;
template <class Tag>
inline constexpr bool is_completion_query<get_completion_scheduler_t<Tag>> = true;

/// Attributes of an adaptor that completes elsewhere than what it adapts.
template <class Env>
struct attributes_without_completions {
    [[no_unique_address]] Env env_;

    template <class Query, class... Args>
        requires(forwarding_query(Query{}) && !is_completion_query<Query> &&
                 has_query<Env, Query, Args...>)
    constexpr auto query(Query query, Args&&... args) const
        noexcept(nothrow_query<Env, Query, Args...>) -> query_result_t<Env, Query, Args...> {
        return env_.query(query, static_cast<Args&&>(args)...);
    }
};

template <class Env>
constexpr auto without_completions(Env&& environment) noexcept {
    return attributes_without_completions<Env>{static_cast<Env&&>(environment)};
}

/// Attributes of what ends on a scheduler: where the values come from is known.
template <class Scheduler, class Env>
struct scheduled_attributes : attributes_without_completions<Env> {
    using attributes_without_completions<Env>::query;
    [[no_unique_address]] Scheduler scheduler_;

    constexpr Scheduler query(get_completion_scheduler_t<set_value_t>, auto&&...) const noexcept {
        return scheduler_;
    }
};

}  // namespace detail
}  // namespace builtin
}  // namespace eddy::ex
