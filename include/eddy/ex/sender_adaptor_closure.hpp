// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/product.hpp>
#include <eddy/ex/sender.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {

/// Base of closures, which may stand on the right of a | after a sender.
template <class Derived>
struct sender_adaptor_closure;

namespace detail {

template <class T>
concept adaptor_closure =
    std::derived_from<std::remove_cvref_t<T>, sender_adaptor_closure<std::remove_cvref_t<T>>> &&
    std::constructible_from<std::remove_cvref_t<T>, T>;

template <class First, class Second>
struct composed_closure;

struct pipe {
    template <sender Sender, adaptor_closure Closure>
        requires std::invocable<Closure, Sender>
    friend constexpr auto operator|(Sender&& sender, Closure&& closure)
        -> std::invoke_result_t<Closure, Sender> {
        return static_cast<Closure&&>(closure)(static_cast<Sender&&>(sender));
    }
    template <adaptor_closure First, adaptor_closure Second>
    friend constexpr auto operator|(First&& first, Second&& second)
        -> composed_closure<std::remove_cvref_t<First>, std::remove_cvref_t<Second>> {
        return {{}, static_cast<First&&>(first), static_cast<Second&&>(second)};
    }
};

}  // namespace detail

template <class Derived>
struct sender_adaptor_closure : detail::pipe {};

namespace detail {

template <class First, class Second>
struct composed_closure : sender_adaptor_closure<composed_closure<First, Second>> {
    [[no_unique_address]] First first;
    [[no_unique_address]] Second second;

    constexpr composed_closure(sender_adaptor_closure<composed_closure>, auto&& f, auto&& s)
        : first(static_cast<decltype(f)>(f)), second(static_cast<decltype(s)>(s)) {}

    template <sender Sender>
        requires std::invocable<Second, std::invoke_result_t<First, Sender>>
    constexpr auto operator()(Sender&& sender) && {
        return static_cast<Second&&>(second)(
            static_cast<First&&>(first)(static_cast<Sender&&>(sender)));
    }
    template <sender Sender>
        requires std::invocable<const Second&, std::invoke_result_t<const First&, Sender>>
    constexpr auto operator()(Sender&& sender) const& {
        return second(first(static_cast<Sender&&>(sender)));
    }
};

/// A closure that calls Adaptor(sender, args...) with stored arguments.
template <class Adaptor, class... Args>
struct bound_closure : sender_adaptor_closure<bound_closure<Adaptor, Args...>> {
    template <class... Us>
    explicit constexpr bound_closure(Adaptor, Us&&... values)
        : args(from_values, static_cast<Us&&>(values)...) {}

    template <sender Sender>
        requires std::invocable<const Adaptor&, Sender, Args...>
    constexpr auto operator()(Sender&& sender) && {
        return static_cast<product<Args...>&&>(args).apply([&](Args&&... values) {
            return Adaptor{}(static_cast<Sender&&>(sender), static_cast<Args&&>(values)...);
        });
    }
    template <sender Sender>
        requires std::invocable<const Adaptor&, Sender, const Args&...>
    constexpr auto operator()(Sender&& sender) const& {
        return args.apply([&](const Args&... values) {
            return Adaptor{}(static_cast<Sender&&>(sender), values...);
        });
    }

    [[no_unique_address]] product<Args...> args;
};
template <class Adaptor, class... Args>
bound_closure(Adaptor, Args&&...) -> bound_closure<Adaptor, std::decay_t<Args>...>;

}  // namespace detail

}  // namespace eddy::ex

#endif
