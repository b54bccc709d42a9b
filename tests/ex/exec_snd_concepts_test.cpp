// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <tuple>
#include <variant>

namespace eddy::ex_testing::exec_snd_concepts {

struct never {
    using operation_state_concept = ex::operation_state_tag;
    void start() & noexcept {}
};

struct simple_sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int, double), ex::set_value_t(),
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>{};
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
};

/// What it sends depends on whether it can be stopped.
struct dependent_sender {
    using sender_concept = ex::sender_tag;
    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (ex::unstoppable_token<ex::stop_token_of_t<Env>>) {
            return ex::completion_signatures<ex::set_value_t()>{};
        } else {
            return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>{};
        }
    }
    template <class Receiver>
    never connect(Receiver) const noexcept {
        return {};
    }
};

struct untagged_sender : simple_sender {
    using sender_concept = void;
};
struct immovable_sender : simple_sender {
    immovable_sender(immovable_sender&&) = delete;
};

static_assert(ex::sender<simple_sender>);
static_assert(ex::sender<const simple_sender&>);
static_assert(!ex::sender<untagged_sender>);
static_assert(!ex::sender<immovable_sender>);
static_assert(!ex::sender<int>);

static_assert(ex::sender_in<simple_sender>);
static_assert(ex::sender_in<simple_sender, ex::env<>>);
static_assert(!ex::sender_in<dependent_sender>, "nothing is known without an environment");
static_assert(ex::sender_in<dependent_sender, ex::env<>>);
static_assert(sends<dependent_sender, ex::set_value_t()>);
static_assert(sends_in<dependent_sender, stoppable_env, ex::set_value_t(), ex::set_stopped_t()>);

static_assert(ex::sender_to<simple_sender, probe<>>);
struct deaf {
    using receiver_concept = ex::receiver_tag;
    void set_value() noexcept {}
};
static_assert(!ex::sender_to<simple_sender, deaf>);
static_assert(ex::sender_to<dependent_sender, deaf>);

// Whether a sender can be connected is a question, and never an error.
struct receiver_of_all {
    using receiver_concept = ex::receiver_tag;
    void set_value(auto&&...) noexcept {}
    void set_error(auto&&) noexcept {}
    void set_stopped() noexcept {}
};
template <class Sender, class Receiver = receiver_of_all>
inline constexpr bool only_as_an_rvalue =
    ex::sender_to<Sender, Receiver> && !ex::sender_to<Sender&, Receiver> &&
    !ex::sender_to<const Sender&, Receiver>;
constexpr auto nothing = [](auto&&...) noexcept {};
constexpr auto just_nothing = [](auto&&...) noexcept { return ex::just(); };
using move_only = decltype(ex::just(std::unique_ptr<int>()));
using loop_scheduler = decltype(std::declval<ex::run_loop&>().get_scheduler());

static_assert(!ex::sender_to<int, receiver_of_all>);
static_assert(!ex::sender_to<simple_sender, int>);
static_assert(only_as_an_rvalue<move_only>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() | ex::then(nothing))>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() | ex::upon_error(nothing))>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() | ex::let_value(just_nothing))>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() | ex::into_variant())>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() | ex::stopped_as_optional())>);
static_assert(only_as_an_rvalue<decltype(std::declval<move_only>() |
                                         ex::continues_on(ex::inline_scheduler{}))>);
static_assert(
    only_as_an_rvalue<decltype(ex::starts_on(ex::inline_scheduler{}, std::declval<move_only>()))>);
static_assert(
    only_as_an_rvalue<decltype(ex::write_env(std::declval<move_only>(), stoppable_env{}))>);
static_assert(only_as_an_rvalue<decltype(ex::when_all(std::declval<move_only>(), ex::just()))>);
static_assert(only_as_an_rvalue<decltype(ex::just(1) |
                                         ex::then([p = std::unique_ptr<int>()](int) noexcept {}))>);

/// Can be copied, and connected only as an rvalue.
struct used_up {
    using sender_concept = ex::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t()>{};
    }
    template <class Receiver>
    never connect(Receiver) && noexcept {
        return {};
    }
};
static_assert(only_as_an_rvalue<used_up>);
static_assert(only_as_an_rvalue<decltype(used_up{} | ex::then(nothing))>);
static_assert(only_as_an_rvalue<decltype(ex::when_all(used_up{}, ex::just()))>);
// stdexec does not compile this.
#if EDDY_EX_BUILTIN
static_assert(!ex::sender_to<decltype(ex::on(ex::inline_scheduler{}, ex::just())), receiver_of_all>,
              "there is no way back");
#endif

template <class...>
struct pack {};
template <class T>
inline constexpr int size = 0;
template <class... Ts>
inline constexpr int size<pack<Ts...>> = sizeof...(Ts);

static_assert(size<ex::value_types_of_t<simple_sender, ex::env<>, pack, pack>> == 2);
static_assert(
    std::is_same_v<ex::error_types_of_t<simple_sender, ex::env<>, pack>, pack<std::error_code>>);
static_assert(ex::sends_stopped<simple_sender, ex::env<>>);
static_assert(!ex::sends_stopped<dependent_sender, ex::env<>>);
static_assert(ex::sends_stopped<dependent_sender, stoppable_env>);
static_assert(ex::sends_stopped<simple_sender>);
// stdexec asks without an environment.
#if EDDY_EX_BUILTIN
static_assert(!ex::sends_stopped<dependent_sender>, "in the empty environment");
#endif

using values = ex::value_types_of_t<simple_sender>;
static_assert(std::is_constructible_v<values, std::tuple<int, double>>);
static_assert(std::is_constructible_v<values, std::tuple<>>);

static_assert(same<decltype(ex::get_completion_signatures<dependent_sender, ex::env<>>()),
                   ex::set_value_t()>);

// Awaitables.

static_assert(ex::sender<std::suspend_always>);
static_assert(ex::sender_in<std::suspend_always>, "what it sends depends on no environment");
static_assert(ex::sender_in<std::suspend_always, ex::env<>>);
static_assert(ex::sender_in<decltype(std::suspend_always{} | ex::then(nothing))>);

// The promise with which stdexec asks cannot be stopped.
#if EDDY_EX_BUILTIN
/// Only coroutines that can be stopped can wait for it.
struct for_the_stoppable {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
        requires requires(Promise& promise) {
            { promise.unhandled_stopped() } -> std::convertible_to<std::coroutine_handle<>>;
        }
    void await_suspend(std::coroutine_handle<Promise>) noexcept {}
    static constexpr int await_resume() noexcept { return 1; }
};
static_assert(ex::sender<for_the_stoppable>);
static_assert(!ex::sender_in<for_the_stoppable>, "not every coroutine can wait for it");
static_assert(sends<for_the_stoppable, ex::set_value_t(int), ex::set_error_t(std::exception_ptr),
                    ex::set_stopped_t()>);
#endif

}  // namespace eddy::ex_testing::exec_snd_concepts
