// SPDX-License-Identifier: Apache-2.0

// The shared part of let_value, let_error and let_stopped: a function turns one channel into a
// sender.
#pragma once

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/detail/invoke.hpp>
#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/detail/product.hpp>
#include <eddy/ex/detail/then.hpp>
#include <eddy/ex/get_completion_scheduler.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Tag>
struct let_mistake;
template <>
struct let_mistake<set_value_t> {
    EDDY_EX_MISTAKE(call,
                    "let_value: the function cannot be called with lvalues of the values this "
                    "sender sends");
    EDDY_EX_MISTAKE(result, "let_value: the function must return a sender");
};
template <>
struct let_mistake<set_error_t> {
    EDDY_EX_MISTAKE(call,
                    "let_error: the function cannot be called with an lvalue of an error this "
                    "sender sends");
    EDDY_EX_MISTAKE(result, "let_error: the function must return a sender");
};
template <>
struct let_mistake<set_stopped_t> {
    EDDY_EX_MISTAKE(call, "let_stopped: the function cannot be called without arguments");
    EDDY_EX_MISTAKE(result, "let_stopped: the function must return a sender");
};

/// An environment that names the place where the first sender completed, if that is known. The
/// second sender runs there.
template <class Tag, class Child, class Env>
constexpr auto let_env(const Child& child, const Env& environment) noexcept {
    if constexpr (std::is_invocable_v<get_completion_scheduler_t<Tag>, env_of_t<const Child&>,
                                      const Env&>) {
        return prop{get_start_scheduler,
                    get_completion_scheduler<Tag>(get_env(child), environment)};
    } else {
        return env<>{};
    }
}
template <class Tag, class Child, class Env>
using let_env_t = decltype(detail::let_env<Tag>(std::declval<const std::remove_cvref_t<Child>&>(),
                                                std::declval<const std::remove_cvref_t<Env>&>()));
template <class Tag, class Child, class Env>
using second_env_t = joined_env_t<let_env_t<Tag, Child, Env>, Env>;

/// A receiver of anything, used to find out if connecting throws.
template <class Env>
struct any_receiver {
    using receiver_concept = receiver_tag;
    void set_value(auto&&...) noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
    Env get_env() const noexcept { std::terminate(); }  // never called
};

template <class Function, class... Args>
using second_sender_t = std::invoke_result_t<Function, std::decay_t<Args>&...>;

/// True if storing results, calling the function and connecting the returned sender cannot throw.
template <class Function, class Env, class... Args>
inline constexpr bool let_nothrow =
    nothrow_decay_copyable<Args...> &&
    std::is_nothrow_invocable_v<Function, std::decay_t<Args>&...> &&
    std::is_nothrow_invocable_v<connect_unchecked_t, second_sender_t<Function, Args...>,
                                any_receiver<Env>>;

/// Maps the first sender's signatures. `Env` is the environment of the second sender, if known.
template <class Tag, class Function, class... Env>
struct let_map {
    template <class... Args>
    static consteval auto signatures() {
        if constexpr (!keepable_results<type_list<Args...>>::value) {
            return not_keepable{};
        } else if constexpr (!std::is_invocable_v<Function, std::decay_t<Args>&...>) {
            return typename let_mistake<Tag>::call{};
        } else if constexpr (!sender<second_sender_t<Function, Args...>>) {
            return typename let_mistake<Tag>::result{};
        } else {
            using second = signatures_or_mistake<second_sender_t<Function, Args...>, Env...>;
            if constexpr (is_signatures<second> && sizeof...(Env) == 1) {
                return join_signatures_t<second,
                                         throws_if<!let_nothrow<Function, Env..., Args...>>>{};
            } else {
                return join_signatures_t<second, throws_t>{};
            }
        }
    }

    template <class Signature>
    struct apply : identity<completion_signatures<Signature>> {};
    template <class... Args>
    struct apply<Tag(Args...)> : identity<decltype(let_map::signatures<Args...>())> {};
};

template <class Receiver, class LetEnv>
struct let_receiver {
    using receiver_concept = receiver_tag;
    Receiver* receiver;
    const LetEnv* environment;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        ex::set_value(static_cast<Receiver&&>(*receiver), static_cast<Values&&>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        ex::set_error(static_cast<Receiver&&>(*receiver), static_cast<Error&&>(error));
    }
    void set_stopped() noexcept { ex::set_stopped(static_cast<Receiver&&>(*receiver)); }
    auto get_env() const noexcept { return detail::join_env(*environment, ex::get_env(*receiver)); }
};

/// one<List> is true if the sender that `Function` returns for `List` connects to `Receiver`.
template <class Function, class Receiver>
struct connects_second {
    template <class List>
    struct one;
    template <class... Args>
    struct one<type_list<Args...>>
        : std::is_invocable<connect_unchecked_t, second_sender_t<Function, Args...>, Receiver> {};
};

template <class Tag, class Child, class Receiver, class Function>
class let_operation;

/// The state that both operations share. The first operation reports to it.
template <class Tag, class Child, class Receiver, class Function>
struct let_state : immovable {
    using environment = let_env_t<Tag, Child, forwarding_env_t<env_of_t<Receiver>>>;

    template <class F>
    let_state(const std::remove_cvref_t<Child>& child, Receiver&& r,
              F&& f) noexcept(std::is_nothrow_constructible_v<Function, F>)
        : receiver(static_cast<Receiver&&>(r)),
          function(static_cast<F&&>(f)),
          let_environment(detail::let_env<Tag>(child, env())) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        if constexpr (std::is_same_v<Done, Tag>) {
            static_cast<let_operation<Tag, Child, Receiver, Function>&>(*this).go_on(
                static_cast<Args&&>(args)...);
        } else {
            done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
        }
    }

    Receiver receiver;
    [[no_unique_address]] Function function;
    [[no_unique_address]] environment let_environment;
};

template <class Tag, class Child, class Receiver, class Function>
concept let_connectable =
    connectable_child<Child, let_state<Tag, Child, Receiver, Function>> &&
    all_of<gather_t<signatures_or_mistake<Child, forwarding_env_t<env_of_t<Receiver>>>, Tag,
                    type_list>,
           connects_second<
               Function, let_receiver<Receiver, typename let_state<Tag, Child, Receiver, Function>::
                                                    environment>>::template one>;

/// Runs two operations that share their memory: the first one is destroyed after it has completed,
/// and only then is the second one made. The results of the first one are kept beside them.
template <class Tag, class Child, class Receiver, class Function>
class let_operation : let_state<Tag, Child, Receiver, Function> {
    using state = let_state<Tag, Child, Receiver, Function>;
    using second_env = joined_env_t<typename state::environment, env_of_t<Receiver>>;
    using second_receiver = let_receiver<Receiver, typename state::environment>;
    using signatures = signatures_or_mistake<Child, forwarding_env_t<env_of_t<Receiver>>>;
    using first_operation = operation_of<Child, state_receiver<state>>;
    template <class... Args>
    using second_operation = operation_of<second_sender_t<Function, Args...>, second_receiver>;

    template <class... Args>
    static constexpr bool nothrow = let_nothrow<Function, second_env, Args...>;

    friend state;

public:
    using operation_state_concept = operation_state_tag;

    template <class F>
    let_operation(Child&& child, Receiver&& r,
                  F&& f) noexcept(std::is_nothrow_constructible_v<Function, F> &&
                                  connects_nothrow<Child, state_receiver<state>>)
        : state(child, static_cast<Receiver&&>(r), static_cast<F&&>(f)) {
        operations_.template emplace_from<first_operation>(
            [&]() noexcept(connects_nothrow<Child, state_receiver<state>>) -> first_operation {
                return connect_unchecked(static_cast<Child&&>(child), state_receiver<state>{this});
            });
    }

    void start() & noexcept { operations_.template get<first_operation>().start(); }

    template <class... Args>
    void go_on(Args&&... args) noexcept {
        if constexpr (nothrow<Args...>) {
            second(static_cast<Args&&>(args)...).start();
        } else {
            start_or_fail(static_cast<Args&&>(args)...);
        }
    }

private:
    template <class... Args>
    void start_or_fail(Args&&... args) noexcept {
        second_operation<Args...>* operation = nullptr;
        try {
            operation = &second(static_cast<Args&&>(args)...);
        } catch (...) {
            set_error(static_cast<Receiver&&>(this->receiver), std::current_exception());
            return;
        }
        operation->start();
    }

    /// Makes the second operation. The arguments may be parts of the first operation, so they are
    /// kept before that one is destroyed.
    template <class... Args>
    auto& second(Args&&... args) noexcept(nothrow<Args...>) {
        auto& kept = results_.template emplace<decayed_product<Args...>>(
            from_values, static_cast<Args&&>(args)...);
        operations_.template destroy<first_operation>();
        return operations_.template emplace_from<second_operation<Args...>>(
            [&]() noexcept(nothrow<Args...>) -> second_operation<Args...> {
                return kept.apply([&](std::decay_t<Args>&... values) -> second_operation<Args...> {
                    return connect_unchecked(
                        detail::invoke(static_cast<Function&&>(this->function), values...),
                        second_receiver{&this->receiver, &this->let_environment});
                });
            });
    }

    rename_t<distinct_t<gather_t<signatures, Tag, decayed_product>>, choice> results_;
    rename_t<distinct_t<
                 concat_t<type_list<first_operation>, gather_t<signatures, Tag, second_operation>>>,
             choice>
        operations_;
};

/// The sources of the second sender's completions with `Done`. Before that sender exists, its place
/// is known only if it completes where it is started, which is where the first sender completed.
template <class Tag, class Function, class Done, class... Env>
struct second_sources {
    template <class... Args>
    static consteval auto find() {
        if constexpr (!std::is_invocable_v<Function, std::decay_t<Args>&...>) {
            return from_elsewhere{};
        } else {
            using second = second_sender_t<Function, Args...>;
            if constexpr (!may_send<second, Done, Env...>()) {
                return type_list<>{};
            } else if constexpr (answers<env_of_t<second>, completes_where_started_t<Done>,
                                         Env...>) {
                return type_list<Tag>{};
            } else {
                return from_elsewhere{};
            }
        }
    }
    template <class... Args>
    static consteval auto find_error() {
        if constexpr (!std::is_same_v<Done, set_error_t>) {
            return type_list<>{};
        } else if constexpr (sizeof...(Env) == 0 ||
                             !std::is_invocable_v<Function, std::decay_t<Args>&...>) {
            return type_list<Tag>{};
        } else {
            return source_if<Tag, !let_nothrow<Function, Env..., Args...>>{};
        }
    }
    template <class... Args>
    using both = sources_together<decltype(find<Args...>()), decltype(find_error<Args...>())>;
};

template <class Tag, class Child, class Function>
struct let_sender : connected_as_it_is<let_sender<Tag, Child, Function>> {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return map_signatures_t<
            child_signatures<Self, Child, Env...>,
            let_map<Tag, Function, second_env_t<Tag, Child, forwarding_env_t<Env>>...>>{};
    }

    template <class Done, class... Env>
    static consteval auto find_sources() {
        using first = signatures_or_mistake<Child, Env...>;
        if constexpr (is_signatures<first>) {
            using second = second_sources<Tag, Function, Done, second_env_t<Tag, Child, Env>...>;
            return rename_t<concat_t<type_list<source_if<Done, !std::is_same_v<Done, Tag>>>,
                                     gather_t<first, Tag, second::template both>>,
                            sources_together>{};
        } else {
            return from_elsewhere{};
        }
    }
    template <class Done, class... Env>
    using sources = decltype(find_sources<Done, Env...>());

    template <class Self, class Receiver>
    using operation = let_operation<Tag, like_t<Self, Child>, Receiver, Function>;

    template <class Self, class Receiver>
        requires let_connectable<Tag, like_t<Self, Child>, Receiver, Function>
    static auto connect_as(Self&& self, Receiver&& receiver) noexcept(
        std::is_nothrow_constructible_v<operation<Self, Receiver>, like_t<Self, Child>, Receiver,
                                        like_t<Self, Function>>) {
        return operation<Self, Receiver>(part_of<Self>(self.child),
                                         static_cast<Receiver&&>(receiver),
                                         part_of<Self>(self.function));
    }

    auto get_env() const noexcept {
        return mapped_attributes<let_sender, Child>{{ex::get_env(child)}};
    }

    [[no_unique_address]] Child child;
    [[no_unique_address]] Function function;
};

template <class Child, class Function>
using let_value_sender = let_sender<set_value_t, Child, Function>;
template <class Child, class Function>
using let_error_sender = let_sender<set_error_t, Child, Function>;
template <class Child, class Function>
using let_stopped_sender = let_sender<set_stopped_t, Child, Function>;

}  // namespace detail
}  // namespace eddy::ex
