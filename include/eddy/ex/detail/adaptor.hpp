// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/connect.hpp>
#include <eddy/ex/env.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

/// Passes completions to a state that outlives it, by state.complete(tag, args...). The state's
/// env() is the environment.
template <class State>
struct state_receiver {
    using receiver_concept = receiver_tag;
    State* state;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        state->complete(set_value_t{}, static_cast<Values&&>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        state->complete(set_error_t{}, static_cast<Error&&>(error));
    }
    void set_stopped() noexcept { state->complete(set_stopped_t{}); }

    auto get_env() const noexcept { return state->env(); }
};

/// The operation of an adaptor with one child. The state knows the receiver. The child's operation
/// reports to the state.
template <class Child, class State>
class adaptor_operation : State {
public:
    using operation_state_concept = operation_state_tag;

    template <class... Args>
    explicit adaptor_operation(Child&& child, Args&&... args) noexcept(
        std::is_nothrow_constructible_v<State, Args...> &&
        connects_nothrow<Child, state_receiver<State>>)
        : State(static_cast<Args&&>(args)...),
          child_(connect_unchecked(static_cast<Child&&>(child), state_receiver<State>{this})) {}
    adaptor_operation(adaptor_operation&&) = delete;

    void start() & noexcept { child_.start(); }

private:
    operation_of<Child, state_receiver<State>> child_;
};

/// True if `Sender` can be connected as a `Self`, with that constness and value category.
template <class Sender, class Self, class Receiver>
concept connects_as = requires(Self&& self, Receiver&& receiver) {
    Sender::connect_as(static_cast<Self&&>(self), static_cast<Receiver&&>(receiver));
};
template <class Sender, class Self, class Receiver>
inline constexpr bool connects_as_nothrow =
    noexcept(Sender::connect_as(std::declval<Self>(), std::declval<Receiver>()));

/// Base of a sender whose children are connected with the sender's own constness and value
/// category, by the static Sender::connect_as(self, receiver). An lvalue is not copied, but it must
/// be copyable.
template <class Sender>
struct connected_as_it_is {
    template <receiver Receiver>
        requires connects_as<Sender, Sender, Receiver>
    auto connect(Receiver receiver) && noexcept(connects_as_nothrow<Sender, Sender, Receiver>) {
        return Sender::connect_as(static_cast<Sender&&>(*this), static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
        requires(std::copy_constructible<Sender> && connects_as<Sender, Sender&, Receiver>)
    auto connect(Receiver receiver) & noexcept(connects_as_nothrow<Sender, Sender&, Receiver>) {
        return Sender::connect_as(static_cast<Sender&>(*this), static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
        requires(std::copy_constructible<Sender> && connects_as<Sender, const Sender&, Receiver>)
    auto connect(Receiver receiver) const& noexcept(
        connects_as_nothrow<Sender, const Sender&, Receiver>) {
        return Sender::connect_as(static_cast<const Sender&>(*this),
                                  static_cast<Receiver&&>(receiver));
    }
};

template <class Child, class State>
concept connectable_child = std::is_invocable_v<connect_unchecked_t, Child, state_receiver<State>>;

/// Gives `part` of a sender the constness and value category of `Self`.
template <class Self, class Part>
constexpr like_t<Self, std::remove_const_t<Part>>&& part_of(Part& part) noexcept {
    return static_cast<like_t<Self, std::remove_const_t<Part>>&&>(part);
}

/// The signatures of an adaptor's child, with the constness and value category of `Self`.
template <class Self, class Child, class... Env>
using child_signatures = signatures_or_mistake<like_t<Self, Child>, forwarding_env_t<Env>...>;

}  // namespace detail
}  // namespace eddy::ex
