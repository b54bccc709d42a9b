// SPDX-License-Identifier: Apache-2.0

// The shared part of adaptors that take a sender and nothing else. A `Kind` describes one of them:
//
//     Kind::signatures<Child>()       its signatures, given those of its child
//     Kind::state<Receiver, Child>    a plain_state that its child completes
//     Kind::sources<Tag, Child>       the child's completions that lead to one with Tag
#pragma once

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Receiver>
struct plain_state {
    explicit plain_state(Receiver&& r) noexcept : receiver(static_cast<Receiver&&>(r)) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    Receiver receiver;
};

template <class Kind, class Child>
struct plain_sender : connected_as_it_is<plain_sender<Kind, Child>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        using child_completes = child_signatures<Self, Child, Env...>;
        if constexpr (is_signatures<child_completes>) {
            return Kind::template signatures<child_completes>();
        } else {
            return child_completes{};
        }
    }

    template <class Done, class... Env>
    using sources =
        typename Kind::template sources<Done, child_signatures<plain_sender, Child, Env...>>;

    template <class Self, class Receiver>
    using state = typename Kind::template state<
        Receiver, signatures_or_mistake<like_t<Self, Child>, forwarding_env_t<env_of_t<Receiver>>>>;
    template <class Self, class Receiver>
    using operation = adaptor_operation<like_t<Self, Child>, state<Self, Receiver>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, state<Self, Receiver>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept {
        return mapped_attributes<plain_sender, Child>{{ex::get_env(child)}};
    }

    [[no_unique_address]] Child child;
};

/// Base of the function object `Derived`.
template <class Derived, class Kind>
struct plain_adaptor {
    template <sender Sender>
    constexpr auto operator()(Sender&& sender) const {
        using result = plain_sender<Kind, std::remove_cvref_t<Sender>>;
        detail::check_early<result>();
        return result{{}, static_cast<Sender&&>(sender)};
    }
    constexpr auto operator()() const noexcept { return bound_closure(Derived{}); }
};

}  // namespace detail
}  // namespace eddy::ex
