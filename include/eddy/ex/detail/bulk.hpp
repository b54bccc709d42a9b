// SPDX-License-Identifier: Apache-2.0

// The adaptor behind bulk, bulk_chunked and bulk_unchunked. A `Kind` says how the function is
// called:
//
//     Kind::takes<Function, Shape, Args...>           true if it can be called
//     Kind::takes_nothrow<Function, Shape, Args...>   true if a call cannot throw
//     Kind::call(function, shape, args...)            calls it for the whole shape
//     Kind::mistake                                   explains why it cannot be called
#pragma once

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>

namespace eddy::ex {
namespace detail {

/// True for the policies that the parallel algorithms of <memory> take. Including <execution> to
/// name the policies would bring in all parallel algorithms.
template <class Policy>
concept execution_policy = requires(Policy&& policy, int* at) {
    std::uninitialized_default_construct(static_cast<Policy&&>(policy), at, at);
};

/// Calls the function once for each index.
struct one_index_each {
    template <class Function, class Shape, class... Args>
    static constexpr bool takes = std::is_invocable_v<Function&, Shape, Args...>;
    template <class Function, class Shape, class... Args>
    static constexpr bool takes_nothrow = std::is_nothrow_invocable_v<Function&, Shape, Args...>;

    template <class Function, class Shape, class... Args>
    static void call(Function& function, Shape shape,
                     Args&... args) noexcept(takes_nothrow<Function, Shape, Args&...>) {
        for (Shape index = 0; index < shape; ++index) function(Shape(index), args...);
    }
};

/// Calls the function with the first index of a range and one past the last.
struct one_range {
    template <class Function, class Shape, class... Args>
    static constexpr bool takes = std::is_invocable_v<Function&, Shape, Shape, Args...>;
    template <class Function, class Shape, class... Args>
    static constexpr bool takes_nothrow =
        std::is_nothrow_invocable_v<Function&, Shape, Shape, Args...>;

    template <class Function, class Shape, class... Args>
    static void call(Function& function, Shape shape,
                     Args&... args) noexcept(takes_nothrow<Function, Shape, Args&...>) {
        if (Shape(0) < shape) function(Shape(0), Shape(shape), args...);
    }
};

template <class Kind, class Shape, class Function>
struct bulk_map {
    template <class Signature>
    struct apply : identity<completion_signatures<Signature>> {};
    template <class... Args>
    struct apply<set_value_t(Args...)> : identity<typename Kind::mistake> {};
    template <class... Args>
        requires(Kind::template takes<Function, Shape, std::remove_reference_t<Args>&...>)
    struct apply<set_value_t(Args...)>
        : join_signatures<completion_signatures<set_value_t(Args...)>,
                          throws_if<!Kind::template takes_nothrow<
                              Function, Shape, std::remove_reference_t<Args>&...>>> {};
};

template <class Kind, class Receiver, class Shape, class Function>
struct bulk_state {
    template <class F>
    bulk_state(Receiver&& r, Shape s, F&& f) noexcept(std::is_nothrow_constructible_v<Function, F>)
        : receiver(static_cast<Receiver&&>(r)), shape(s), function(static_cast<F&&>(f)) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    template <class... Values>
    void complete(set_value_t done, Values&&... values) noexcept {
        if constexpr (Kind::template takes_nothrow<Function, Shape,
                                                   std::remove_reference_t<Values>&...>) {
            Kind::call(function, shape, values...);
        } else {
            try {
                Kind::call(function, shape, values...);
            } catch (...) {
                set_error(static_cast<Receiver&&>(receiver), std::current_exception());
                return;
            }
        }
        done(static_cast<Receiver&&>(receiver), static_cast<Values&&>(values)...);
    }
    template <class Error>
    void complete(set_error_t done, Error&& error) noexcept {
        done(static_cast<Receiver&&>(receiver), static_cast<Error&&>(error));
    }
    void complete(set_stopped_t done) noexcept { done(static_cast<Receiver&&>(receiver)); }

    Receiver receiver;
    Shape shape;
    [[no_unique_address]] Function function;
};

template <class Kind, class Child, class Shape, class Function>
struct bulk_sender : connected_as_it_is<bulk_sender<Kind, Child, Shape, Function>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return map_signatures_t<child_signatures<Self, Child, Env...>,
                                bulk_map<Kind, Shape, Function>>{};
    }

    template <class List>
    struct calls_nothrow;
    template <class... Args>
    struct calls_nothrow<type_list<Args...>>
        : std::bool_constant<
              Kind::template takes_nothrow<Function, Shape, std::remove_reference_t<Args>&...>> {};

    template <class Done, class... Env>
    static consteval auto find_sources() {
        using first = signatures_or_mistake<Child, Env...>;
        if constexpr (!std::is_same_v<Done, set_error_t>) {
            return type_list<Done>{};
        } else if constexpr (!is_signatures<first>) {
            return from_elsewhere{};
        } else {
            constexpr bool nothrow = all_of<gather_t<first, set_value_t, type_list>, calls_nothrow>;
            return all_sources<type_list<Done>, source_if<set_value_t, !nothrow>>{};
        }
    }
    template <class Done, class... Env>
    using sources = decltype(find_sources<Done, Env...>());

    template <class Receiver>
    using state = bulk_state<Kind, Receiver, Shape, Function>;
    template <class Self, class Receiver>
    using operation = adaptor_operation<like_t<Self, Child>, state<Receiver>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, state<Receiver>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        Shape, like_t<Self, Function>>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver), Shape(self.shape),
                                         part_of<Self>(self.function));
    }
    auto get_env() const noexcept {
        return mapped_attributes<bulk_sender, Child>{{ex::get_env(child)}};
    }

    [[no_unique_address]] Child child;
    Shape shape;
    [[no_unique_address]] Function function;
};

/// Base of the function object `Derived`. A policy is a permission, and a plain loop satisfies
/// every policy. Only a scheduler could run the calls in parallel, and without domains none is
/// asked.
template <class Derived, class Kind>
struct bulk_adaptor {
    template <sender Sender, execution_policy Policy, std::integral Shape, movable_value Function>
        requires std::copy_constructible<std::decay_t<Function>>
    constexpr auto operator()(Sender&& sender, Policy&&, Shape shape, Function&& function) const {
        using result =
            bulk_sender<Kind, std::remove_cvref_t<Sender>, Shape, std::decay_t<Function>>;
        detail::check_early<result>();
        return result{{}, static_cast<Sender&&>(sender), shape, static_cast<Function&&>(function)};
    }
    template <execution_policy Policy, std::integral Shape, movable_value Function>
        requires std::copy_constructible<std::decay_t<Function>>
    constexpr auto operator()(Policy&& policy, Shape shape, Function&& function) const {
        return bound_closure(Derived{}, static_cast<Policy&&>(policy), shape,
                             static_cast<Function&&>(function));
    }
};

}  // namespace detail
}  // namespace eddy::ex
