#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/get_scheduler.hpp>

namespace eddy::ex {
inline namespace builtin {

/// Where a sender completes: asked of its attributes, and of the environment that it will be
/// connected with if that is known.
template <class Tag>
struct get_completion_scheduler_t {
    template <class Attributes, class... Env>
    static consteval int source() {
        if constexpr (detail::has_query<Attributes, get_completion_scheduler_t, const Env&...>) {
            return 1;
        } else if constexpr (detail::has_query<Attributes, get_completion_scheduler_t>) {
            return 2;
        } else if constexpr (detail::has_query<Attributes, detail::completes_inline_t> &&
                             sizeof...(Env) == 1 &&
                             (detail::has_query<Env, get_start_scheduler_t> && ...)) {
            return 3;
        } else if constexpr (scheduler<Attributes> && sizeof...(Env) == 1) {
            return 4;
        } else {
            return 0;
        }
    }

    template <class Attributes, class... Env>
        requires(sizeof...(Env) <= 1 && source<Attributes, Env...>() != 0)
    constexpr auto operator()(const Attributes& attributes, const Env&... env) const noexcept {
        constexpr int from = source<Attributes, Env...>();
        if constexpr (from == 1) {
            return attributes.query(*this, env...);
        } else if constexpr (from == 2) {
            return attributes.query(*this);
        } else if constexpr (from == 3) {
            return get_start_scheduler(env...);
        } else {
            return attributes;
        }
    }
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};
template <class Tag>
    requires detail::one_of<Tag, set_value_t, set_error_t, set_stopped_t>
inline constexpr get_completion_scheduler_t<Tag> get_completion_scheduler{};

}  // namespace builtin
}  // namespace eddy::ex

#endif
