// SPDX-License-Identifier: Apache-2.0

// The shared part of then, upon_error and upon_stopped: a function turns one channel into values.
#pragma once

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/invoke.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Tag>
struct function_mistake;
template <>
struct function_mistake<set_value_t> {
    EDDY_EX_MISTAKE(type, "then: the function cannot be called with the values this sender sends");
};
template <>
struct function_mistake<set_error_t> {
    EDDY_EX_MISTAKE(type,
                    "upon_error: the function cannot be called with an error this sender sends");
};
template <>
struct function_mistake<set_stopped_t> {
    EDDY_EX_MISTAKE(type, "upon_stopped: the function cannot be called without arguments");
};

template <class Result>
struct value_signature : identity<completion_signatures<set_value_t(Result)>> {};
template <>
struct value_signature<void> : identity<completion_signatures<set_value_t()>> {};

template <class Tag, class Function>
struct then_map {
    template <class Signature>
    struct apply : identity<completion_signatures<Signature>> {};
    template <class... Args>
    struct apply<Tag(Args...)> : identity<typename function_mistake<Tag>::type> {};
    template <class... Args>
        requires std::is_invocable_v<Function, Args...>
    struct apply<Tag(Args...)>
        : join_signatures<typename value_signature<std::invoke_result_t<Function, Args...>>::type,
                          throws_if<!std::is_nothrow_invocable_v<Function, Args...>>> {};
};

/// Completes `receiver` with the result of `function`, or with its exception.
template <class Receiver, class Function, class... Args>
void complete_with(Receiver& receiver, Function&& function, Args&&... args) noexcept {
    using result = std::invoke_result_t<Function, Args...>;
    const auto deliver = [&]() noexcept(std::is_nothrow_invocable_v<Function, Args...>) {
        if constexpr (std::is_void_v<result>) {
            detail::invoke(static_cast<Function&&>(function), static_cast<Args&&>(args)...);
            set_value(static_cast<Receiver&&>(receiver));
        } else {
            set_value(
                static_cast<Receiver&&>(receiver),
                detail::invoke(static_cast<Function&&>(function), static_cast<Args&&>(args)...));
        }
    };
    if constexpr (std::is_nothrow_invocable_v<Function, Args...>) {
        deliver();
    } else {
        try {
            deliver();
        } catch (...) {
            set_error(static_cast<Receiver&&>(receiver), std::current_exception());
        }
    }
}

template <class Tag, class Receiver, class Function>
struct then_state {
    template <class F>
    then_state(Receiver&& r, F&& f) noexcept(std::is_nothrow_constructible_v<Function, F>)
        : receiver(static_cast<Receiver&&>(r)), function(static_cast<F&&>(f)) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        if constexpr (std::is_same_v<Done, Tag>) {
            detail::complete_with(receiver, static_cast<Function&&>(function),
                                  static_cast<Args&&>(args)...);
        } else {
            done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
        }
    }

    Receiver receiver;
    [[no_unique_address]] Function function;
};

/// one<List> is true if `Function` cannot throw when called with the arguments in `List`.
template <class Function>
struct calls_nothrow {
    template <class List>
    struct one;
    template <class... Args>
    struct one<type_list<Args...>>
        : std::bool_constant<std::is_nothrow_invocable_v<Function, Args...>> {};
};
template <class Signatures, class Tag, class Function>
inline constexpr bool may_throw = true;
template <class... Signatures, class Tag, class Function>
inline constexpr bool may_throw<completion_signatures<Signatures...>, Tag, Function> =
    !all_of<gather_t<completion_signatures<Signatures...>, Tag, type_list>,
            calls_nothrow<Function>::template one>;

template <class Tag, class Child, class Function>
struct then_sender : connected_as_it_is<then_sender<Tag, Child, Function>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return map_signatures_t<child_signatures<Self, Child, Env...>, then_map<Tag, Function>>{};
    }

    template <class Done, class... Env>
    using sources = all_sources<
        source_if<Done, !std::is_same_v<Done, Tag>>,
        source_if<Tag, std::is_same_v<Done, set_value_t> ||
                           (std::is_same_v<Done, set_error_t> &&
                            may_throw<signatures_or_mistake<Child, Env...>, Tag, Function>)>>;

    template <class Self, class Receiver>
    using operation = adaptor_operation<like_t<Self, Child>, then_state<Tag, Receiver, Function>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, then_state<Tag, Receiver, Function>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        like_t<Self, Function>>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver),
                                         part_of<Self>(self.function));
    }

    auto get_env() const noexcept {
        return mapped_attributes<then_sender, Child>{{ex::get_env(child)}};
    }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Function function;
};

/// Base of the function object `Derived`, for adaptors that take a sender and a function.
template <class Derived, template <class, class> class Result>
struct function_adaptor {
    template <sender Sender, movable_value Function>
    constexpr auto operator()(Sender&& sender, Function&& function) const {
        using result = Result<std::remove_cvref_t<Sender>, std::decay_t<Function>>;
        detail::check_early<result>();
        return result{{}, static_cast<Sender&&>(sender), static_cast<Function&&>(function)};
    }
    template <movable_value Function>
    constexpr auto operator()(Function&& function) const {
        return bound_closure(Derived{}, static_cast<Function&&>(function));
    }
};

template <class Child, class Function>
using then_value_sender = then_sender<set_value_t, Child, Function>;
template <class Child, class Function>
using then_error_sender = then_sender<set_error_t, Child, Function>;
template <class Child, class Function>
using then_stopped_sender = then_sender<set_stopped_t, Child, Function>;

}  // namespace detail
}  // namespace eddy::ex
