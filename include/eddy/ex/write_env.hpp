// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/just.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

template <class Receiver, class Env>
struct write_env_state {
    template <class E>
    write_env_state(Receiver&& r, E&& e) noexcept(std::is_nothrow_constructible_v<Env, E>)
        : receiver(static_cast<Receiver&&>(r)), environment(static_cast<E&&>(e)) {}

    joined_env_t<const Env&, env_of_t<Receiver>> env() const noexcept {
        return detail::join_env<const Env&>(environment, get_env(receiver));
    }

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
    }

    Receiver receiver;
    [[no_unique_address]] Env environment;
};

template <class Child, class Env>
struct write_env_sender : connected_as_it_is<write_env_sender<Child, Env>> {
    using sender_concept = sender_tag;

    template <class Self, class... Outer>
    static consteval auto get_completion_signatures() {
        return signatures_or_mistake<like_t<Self, Child>, joined_env_t<const Env&, Outer>...>{};
    }

    template <class Self, class Receiver>
    using operation = adaptor_operation<like_t<Self, Child>, write_env_state<Receiver, Env>>;

    template <class Self, class Receiver>
        requires connectable_child<like_t<Self, Child>, write_env_state<Receiver, Env>>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        like_t<Self, Env>>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver),
                                         part_of<Self>(self.environment));
    }
    auto get_env() const noexcept { return detail::as_forwarding(ex::get_env(child)); }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Env environment;
};

}  // namespace detail

/// Gives a sender an environment. The receiver's environment answers the remaining queries.
struct write_env_t {
    template <sender Sender, queryable Env>
    constexpr auto operator()(Sender&& sender, Env environment) const {
        using result = detail::write_env_sender<std::remove_cvref_t<Sender>, Env>;
        return result{{}, static_cast<Sender&&>(sender), static_cast<Env&&>(environment)};
    }
    template <queryable Env>
    constexpr auto operator()(Env environment) const {
        return detail::bound_closure(write_env_t{}, static_cast<Env&&>(environment));
    }
};
inline constexpr write_env_t write_env{};

}  // namespace eddy::ex

#endif
