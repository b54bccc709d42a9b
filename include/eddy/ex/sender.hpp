// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/awaitable.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/env.hpp>

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <variant>

namespace eddy::ex {

struct sender_tag {};

/// The result of get_completion_signatures<Sender>() if the signatures depend on the environment.
struct dependent_sender_error {};

namespace detail {

template <class Sender>
concept declared_sender = std::derived_from<typename Sender::sender_concept, sender_tag>;

template <class Sender>
concept enabled_sender = declared_sender<Sender> || awaitable<Sender, plain_promise<env<>>>;

}  // namespace detail

/// Work that can be connected to a receiver and started.
///
///     struct my_sender {
///         using sender_concept = ex::sender_tag;
///         template <class Self, class... Env>
///         static consteval auto get_completion_signatures() {
///             return ex::completion_signatures<ex::set_value_t(int)>{};
///         }
///         template <ex::receiver Receiver>
///         auto connect(Receiver receiver);
///     };
template <class Sender>
concept sender = detail::enabled_sender<std::remove_cvref_t<Sender>> &&
                 requires(const std::remove_cvref_t<Sender>& sender) {
                     { get_env(sender) } -> queryable;
                 } && std::move_constructible<std::remove_cvref_t<Sender>> &&
                 std::constructible_from<std::remove_cvref_t<Sender>, Sender>;

namespace detail {

template <class Sender, class... Env>
concept with_member_signatures = requires {
    std::remove_reference_t<Sender>::template get_completion_signatures<Sender, Env...>();
};

EDDY_EX_MISTAKE(no_signatures,
                "the sender has no `template <class Self, class... Env> static consteval auto "
                "get_completion_signatures()` for this environment");

template <class Result>
struct awaited_signature : identity<set_value_t(Result)> {};
template <>
struct awaited_signature<void> : identity<set_value_t()> {};

template <class Result>
using awaited_signatures = completion_signatures<typename awaited_signature<Result>::type,
                                                 set_error_t(std::exception_ptr), set_stopped_t()>;

template <class Sender, class Promise, class Otherwise>
consteval auto find_awaited_signatures() {
    if constexpr (awaitable<Sender, Promise>) {
        return awaited_signatures<await_result_t<Sender, Promise>>{};
    } else {
        return Otherwise{};
    }
}

template <class Sender, class... Env>
consteval auto find_signatures() {
    using type = std::remove_reference_t<Sender>;
    if constexpr (with_member_signatures<Sender, Env...>) {
        return type::template get_completion_signatures<Sender, Env...>();
    } else if constexpr (with_member_signatures<Sender>) {
        return type::template get_completion_signatures<Sender>();
    } else if constexpr (sizeof...(Env) == 0) {
        return detail::find_awaited_signatures<Sender, bare_promise, dependent_sender_error>();
    } else {
        return detail::find_awaited_signatures<Sender, plain_promise<Env>..., no_signatures>();
    }
}

/// A sender's signatures, or a type that explains why there are none.
template <class Sender, class... Env>
using signatures_or_mistake = decltype(find_signatures<Sender, Env...>());

}  // namespace detail

template <class Sender, class... Env>
    requires(sizeof...(Env) <= 1)
consteval auto get_completion_signatures() {
    return detail::signatures_or_mistake<Sender, Env...>{};
}

template <class Sender, class... Env>
concept sender_in = sizeof...(Env) <= 1 && sender<Sender> &&
                    detail::is_signatures<detail::signatures_or_mistake<Sender, Env...>>;

template <class Sender, class... Env>
    requires sender_in<Sender, Env...>
using completion_signatures_of_t = detail::signatures_or_mistake<Sender, Env...>;

namespace detail {

template <class... Ts>
using decayed_tuple = std::tuple<std::decay_t<Ts>...>;

/// The variant without alternatives, which cannot be constructed.
struct empty_variant {
    empty_variant() = delete;
};

template <class... Ts>
struct variant_or_empty_of
    : rename<append_unique_t<type_list<>, std::decay_t<Ts>...>, std::variant> {};
template <>
struct variant_or_empty_of<> : identity<empty_variant> {};
template <class... Ts>
using variant_or_empty = typename variant_or_empty_of<Ts...>::type;

template <class... Errors>
struct only_error;
template <class Error>
struct only_error<Error> : identity<Error> {};
template <class... Errors>
using only_error_t = typename only_error<Errors...>::type;

}  // namespace detail

template <class Sender, class Env = env<>, template <class...> class Tuple = detail::decayed_tuple,
          template <class...> class Variant = detail::variant_or_empty>
    requires sender_in<Sender, Env>
using value_types_of_t =
    detail::rename_t<detail::gather_t<completion_signatures_of_t<Sender, Env>, set_value_t, Tuple>,
                     Variant>;

template <class Sender, class Env = env<>,
          template <class...> class Variant = detail::variant_or_empty>
    requires sender_in<Sender, Env>
using error_types_of_t = detail::rename_t<
    detail::gather_t<completion_signatures_of_t<Sender, Env>, set_error_t, detail::only_error_t>,
    Variant>;

template <class Sender, class Env = env<>>
    requires sender_in<Sender, Env>
inline constexpr bool sends_stopped =
    detail::count_of<completion_signatures_of_t<Sender, Env>, set_stopped_t> != 0;

namespace detail {

/// Fails to compile, with a message that says what is wrong with `Sender` in `Env`.
template <class Sender, class... Env>
constexpr void explain_sender() {
    using signatures = signatures_or_mistake<Sender, Env...>;
    if constexpr (!enabled_sender<std::remove_cvref_t<Sender>>) {
        static_assert(never<Sender>,
                      "this is not a sender: it has no `using sender_concept = ex::sender_tag`");
    } else if constexpr (!sender<Sender>) {
        static_assert(never<Sender>, "this sender can be neither moved nor copied here");
    } else if constexpr (std::is_base_of_v<mistake, signatures>) {
        signatures::template explain<Sender>();
    } else {
        static_assert(is_signatures<signatures>,
                      "the sender's get_completion_signatures() must return an "
                      "ex::completion_signatures<...>");
    }
}

/// Reports a mistake where a sender is composed, if that needs no environment.
template <class Sender>
constexpr void check_early() {
    using signatures = signatures_or_mistake<Sender>;
    if constexpr (std::is_base_of_v<mistake, signatures>) signatures::template explain<Sender>();
}

}  // namespace detail

}  // namespace eddy::ex

#endif
