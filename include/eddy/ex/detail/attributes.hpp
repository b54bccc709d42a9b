// SPDX-License-Identifier: Apache-2.0

// Attributes that say where adaptors complete. For each kind of completion an adaptor names its
// sources: the completions of the child that lead to it. The place is known if there is only one
// source, or if all sources complete in the same place.
#pragma once

#include <eddy/ex/detail/completes_in_one_place.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>
#include <eddy/ex/sender.hpp>

#include <type_traits>

namespace eddy::ex {
namespace detail {

using eddy::detail::completes_in_one_place_t;

template <class Query>
inline constexpr bool is_completion_query = std::is_same_v<Query, completes_in_one_place_t>;
template <class Tag>
inline constexpr bool is_completion_query<completes_where_started_t<Tag>> = true;
template <class Tag>
inline constexpr bool is_completion_query<get_completion_scheduler_t<Tag>> = true;

/// The attributes of an adaptor, except those that say where it completes.
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

/// True if the sender may complete with `Tag`. Without an environment the signatures may be
/// unknown, and the sender may complete in any way.
template <class Sender, class Tag, class... Env>
consteval bool may_send() {
    using signatures = signatures_or_mistake<Sender, Env...>;
    if constexpr (is_signatures<signatures>) {
        return count_of<signatures, Tag> != 0;
    } else {
        return true;
    }
}

/// The sources of a completion that does not come from the child.
struct from_elsewhere {};

/// A list of `Tag` if `Condition` is true, else an empty list.
template <class Tag, bool Condition>
using source_if = std::conditional_t<Condition, type_list<Tag>, type_list<>>;

/// True if storing what a sender with these signatures sends with `Tag` may throw.
template <class Signatures, class Tag>
inline constexpr bool may_fail_to_store = true;
template <class... Signatures, class Tag>
inline constexpr bool may_fail_to_store<completion_signatures<Signatures...>, Tag> =
    !stores_nothrow<completion_signatures<Signatures...>, Tag>;

template <class... Sources>
using all_sources = distinct_t<concat_t<Sources...>>;

/// The union of the sources, or from_elsewhere if one of them is that.
template <class... Sources>
struct sources_or_elsewhere : identity<all_sources<Sources...>> {};
template <class... Sources>
    requires(std::is_same_v<Sources, from_elsewhere> || ...)
struct sources_or_elsewhere<Sources...> : identity<from_elsewhere> {};
template <class... Sources>
using sources_together = typename sources_or_elsewhere<Sources...>::type;

/// Those of `Sources` with which `Child` may complete.
template <class Sources, class Child, class... Env>
struct sent_sources : identity<from_elsewhere> {};
template <class... Tags, class Child, class... Env>
struct sent_sources<type_list<Tags...>, Child, Env...>
    : concat<source_if<Tags, may_send<Child, Tags, Env...>()>...> {};

/// The place where completions from `Sources` of a child with these attributes meet, if known.
template <class Sources, class Attributes, class... Env>
struct meeting_place {
    static constexpr bool where_started = false;
    static constexpr bool known = false;
};
template <class First, class... Tags, class Attributes, class... Env>
struct meeting_place<type_list<First, Tags...>, Attributes, Env...> {
    using tag = First;

    static constexpr bool where_started =
        answers<Attributes, completes_where_started_t<First>, Env...> &&
        (answers<Attributes, completes_where_started_t<Tags>, Env...> && ...);

    static consteval bool is_known() {
        if constexpr (!std::is_invocable_v<get_completion_scheduler_t<First>, Attributes,
                                           const Env&...>) {
            return false;
        } else if constexpr (where_started || sizeof...(Tags) == 0 ||
                             answers<Attributes, completes_in_one_place_t, Env...>) {
            return true;
        } else {
            using scheduler =
                std::invoke_result_t<get_completion_scheduler_t<First>, Attributes, const Env&...>;
            return std::is_empty_v<std::remove_cvref_t<scheduler>> &&
                   (std::is_invocable_r_v<std::remove_cvref_t<scheduler>,
                                          get_completion_scheduler_t<Tags>, Attributes,
                                          const Env&...> &&
                    ...);
        }
    }
    static constexpr bool known = is_known();
};

/// The attributes of `Sender`, an adaptor of `Child`. Sender::sources<Tag, Env...> is a list of
/// tags, or from_elsewhere.
template <class Sender, class Child>
struct mapped_attributes : attributes_without_completions<env_of_t<const Child&>> {
    using child_attributes = env_of_t<const Child&>;
    using attributes_without_completions<child_attributes>::query;

    template <class Tag, class... Env>
    using sources =
        typename sent_sources<typename Sender::template sources<Tag, Env...>, Child, Env...>::type;
    template <class Tag, class... Env>
    using place = meeting_place<sources<Tag, Env...>, child_attributes, Env...>;
    template <class Tag, class... Env>
    static constexpr bool from_the_child =
        !std::is_same_v<typename Sender::template sources<Tag, Env...>, from_elsewhere>;

    template <class Tag, class... Env>
        requires(place<Tag, forwarding_env_t<const Env&>...>::known)
    constexpr decltype(auto) query(get_completion_scheduler_t<Tag>,
                                   const Env&... env) const noexcept {
        using source = typename place<Tag, forwarding_env_t<const Env&>...>::tag;
        return get_completion_scheduler_t<source>{}(this->env_, detail::as_forwarding(env)...);
    }
    template <class Tag, class... Env>
        requires(place<Tag, forwarding_env_t<const Env&>...>::where_started)
    static constexpr bool query(completes_where_started_t<Tag>, const Env&...) noexcept {
        return true;
    }
    template <class... Env>
        requires(
            answers<child_attributes, completes_in_one_place_t, forwarding_env_t<const Env&>...> &&
            from_the_child<set_value_t, forwarding_env_t<const Env&>...> &&
            from_the_child<set_error_t, forwarding_env_t<const Env&>...> &&
            from_the_child<set_stopped_t, forwarding_env_t<const Env&>...>)
    static constexpr bool query(completes_in_one_place_t, const Env&...) noexcept {
        return true;
    }
};

/// True if a hop to `Scheduler` completes on that scheduler with `Tag`, too.
template <class Scheduler, class Tag, class... Env>
consteval bool ends_there() {
    using hop = decltype(schedule(std::declval<Scheduler&>()));
    return !may_send<hop, Tag, Env...>() ||
           answers<env_of_t<hop>, completes_in_one_place_t, Env...>;
}

/// True if `Sender`, which delivers its results on `Scheduler`, can complete with `Tag` and then
/// does so on that scheduler.
template <class Sender, class Scheduler, class Tag, class... Env>
consteval bool delivers_on() {
    if constexpr (std::is_same_v<Tag, set_value_t>) {
        return may_send<Sender, Tag, Env...>();
    } else if constexpr (sizeof...(Env) == 0) {
        return is_signatures<signatures_or_mistake<Sender>> && may_send<Sender, Tag>() &&
               ends_there<Scheduler, Tag>();
    } else {
        return may_send<Sender, Tag, Env...>() && ends_there<Scheduler, Tag, Env...>();
    }
}

/// The attributes of `Sender`, which completes on a scheduler.
template <class Sender, class Scheduler, class Env>
struct scheduled_attributes : attributes_without_completions<Env> {
    using attributes_without_completions<Env>::query;
    [[no_unique_address]] Scheduler scheduler_;

    template <class Tag, class... Outer>
        requires(delivers_on<Sender, Scheduler, Tag, Outer...>())
    constexpr Scheduler query(get_completion_scheduler_t<Tag>, const Outer&...) const noexcept {
        return scheduler_;
    }
    template <class... Outer>
        requires(ends_there<Scheduler, set_error_t, Outer...>() &&
                 ends_there<Scheduler, set_stopped_t, Outer...>())
    static constexpr bool query(completes_in_one_place_t, const Outer&...) noexcept {
        return true;
    }
};

}  // namespace detail
}  // namespace eddy::ex
