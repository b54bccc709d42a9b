// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/product.hpp>
#include <eddy/ex/forwarding_query.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace eddy::ex {

template <class T>
concept queryable = std::destructible<T>;

namespace detail {

template <class Env, class Query, class... Args>
concept has_query = requires(const std::remove_reference_t<Env>& env, Query query, Args&&... args) {
    env.query(query, static_cast<Args&&>(args)...);
};

/// A class and not only an alias, so that a known `Env` is not examined before `Query` is known.
template <class Env, class Query, class... Args>
struct query_result {};
template <class Env, class Query, class... Args>
    requires has_query<Env, Query, Args...>
struct query_result<Env, Query, Args...>
    : identity<decltype(std::declval<const std::remove_reference_t<Env>&>().query(
          std::declval<Query>(), std::declval<Args>()...))> {};
template <class Env, class Query, class... Args>
using query_result_t = typename query_result<Env, Query, Args...>::type;

template <class Env, class Query, class... Args>
inline constexpr bool nothrow_query =
    noexcept(std::declval<const std::remove_reference_t<Env>&>().query(std::declval<Query>(),
                                                                       std::declval<Args>()...));

/// The type that prop and env store for an argument: std::ref(x) becomes a reference to x.
template <class T>
struct unwrapped : identity<T> {};
template <class T>
    requires requires(T wrapper) {
        typename T::type;
        { wrapper.get() } -> std::same_as<typename T::type&>;
        requires std::convertible_to<T, typename T::type&>;
    }
struct unwrapped<T> : identity<typename T::type&> {};

/// A member that makes its class unassignable and leaves it an aggregate. Each owner has its own
/// type, so that the empty members of two owners can share an address.
template <class Owner>
struct not_assignable {
    not_assignable() = default;
    not_assignable(not_assignable&&) = default;
    not_assignable(const not_assignable&) = default;
    not_assignable& operator=(const not_assignable&) = delete;
    ~not_assignable() = default;
};

}  // namespace detail

/// An environment that answers one query.
template <class Query, class Value>
struct prop {
    [[no_unique_address]] Query query_;
    [[no_unique_address]] Value value_;
    [[no_unique_address]] detail::not_assignable<prop> fixed_ = {};

    constexpr const Value& query(Query, auto&&...) const noexcept { return value_; }
};
template <class Query, class Value>
prop(Query, Value) -> prop<Query, typename detail::unwrapped<Value>::type>;

/// Several environments as one. The first environment that knows an answer gives it.
template <class... Envs>
struct env;

template <>
struct env<> {
    env() = default;
    env(env&&) = default;
    env(const env&) = default;
    env& operator=(const env&) = delete;
    ~env() = default;
};

template <class First, class... Rest>
struct env<First, Rest...> {
    env() = default;
    constexpr env(First first,
                  Rest... rest) noexcept((std::is_nothrow_move_constructible_v<First> && ... &&
                                          std::is_nothrow_move_constructible_v<Rest>))
        : first_(static_cast<First&&>(first)), rest_{static_cast<Rest&&>(rest)...} {}
    env(env&&) = default;
    env(const env&) = default;
    env& operator=(const env&) = delete;
    ~env() = default;

    template <class Query, class... Args>
        requires detail::has_query<First, Query, Args...>
    constexpr auto query(Query query, Args&&... args) const
        noexcept(detail::nothrow_query<First, Query, Args...>)
            -> detail::query_result_t<First, Query, Args...> {
        return first_.query(query, static_cast<Args&&>(args)...);
    }
    template <class Query, class... Args>
        requires(!detail::has_query<First, Query, Args...> &&
                 detail::has_query<env<Rest...>, Query, Args...>)
    constexpr auto query(Query query, Args&&... args) const
        noexcept(detail::nothrow_query<env<Rest...>, Query, Args...>)
            -> detail::query_result_t<env<Rest...>, Query, Args...> {
        return rest_.query(query, static_cast<Args&&>(args)...);
    }

private:
    [[no_unique_address]] First first_;
    [[no_unique_address]] env<Rest...> rest_;
};
template <class... Envs>
env(Envs...) -> env<typename detail::unwrapped<Envs>::type...>;

/// The query for the environment of a receiver, or the attributes of a sender.
struct get_env_t {
    template <class Provider>
    constexpr decltype(auto) operator()(const Provider& provider) const noexcept {
        if constexpr (requires { provider.get_env(); }) {
            static_assert(noexcept(provider.get_env()), "get_env: the member must be noexcept");
            return provider.get_env();
        } else {
            return env<>{};
        }
    }
};
inline constexpr get_env_t get_env{};

template <class Provider>
using env_of_t = decltype(get_env(std::declval<Provider>()));

namespace detail {

/// The forwarding queries of `Env`.
template <class Env>
struct forwarding_env {
    [[no_unique_address]] Env env_;

    template <class Query, class... Args>
        requires(forwarding_query(Query{}) && has_query<Env, Query, Args...>)
    constexpr auto query(Query query, Args&&... args) const
        noexcept(nothrow_query<Env, Query, Args...>) -> query_result_t<Env, Query, Args...> {
        return env_.query(query, static_cast<Args&&>(args)...);
    }
};

template <class Env>
struct forwarding_env_of : identity<forwarding_env<Env>> {};
template <>
struct forwarding_env_of<env<>> : identity<env<>> {};
template <>
struct forwarding_env_of<const env<>&> : identity<env<>> {};
template <class Env>
struct forwarding_env_of<forwarding_env<Env>> : identity<forwarding_env<Env>> {};
template <class Env>
using forwarding_env_t = typename forwarding_env_of<Env>::type;

template <class Env>
constexpr auto as_forwarding(Env&& environment) noexcept -> forwarding_env_t<Env> {
    if constexpr (std::is_same_v<forwarding_env_t<Env>, env<>>) {
        return {};
    } else if constexpr (std::is_same_v<forwarding_env_t<Env>, Env>) {
        return static_cast<Env&&>(environment);
    } else {
        return {static_cast<Env&&>(environment)};
    }
}

/// `First`, followed by the forwarding queries of `Second`.
template <class First, class Second>
struct joined_env : identity<env<First, forwarding_env_t<Second>>> {};
template <class Second>
struct joined_env<env<>, Second> : identity<forwarding_env_t<Second>> {};
template <class First, class Second>
using joined_env_t = typename joined_env<First, Second>::type;

template <class First, class Second>
constexpr auto join_env(First first, Second&& second) noexcept -> joined_env_t<First, Second> {
    if constexpr (std::is_same_v<First, env<>>) {
        return detail::as_forwarding(static_cast<Second&&>(second));
    } else {
        return {static_cast<First&&>(first), detail::as_forwarding(static_cast<Second&&>(second))};
    }
}

/// The query for sender attributes that is true if the sender completes with `Tag` on the scheduler
/// on which it was started, for instance inside start().
template <class Tag>
struct completes_where_started_t {
    static constexpr bool query(forwarding_query_t) noexcept { return true; }
};

/// The attributes of a sender that completes inside start(), with one of `Tags`.
template <class... Tags>
struct inline_attributes {
    template <one_of<Tags...> Tag>
    static constexpr bool query(completes_where_started_t<Tag>) noexcept {
        return true;
    }
};

}  // namespace detail

}  // namespace eddy::ex

#endif
