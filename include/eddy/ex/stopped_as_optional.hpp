#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/detail/single_value.hpp>
#include <eddy/ex/detail/then.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {
inline namespace builtin {

namespace detail {

EDDY_EX_MISTAKE(
    not_optional,
    "stopped_as_optional: the sender must complete with exactly one set of at least one "
    "value");

template <class Value>
struct stopped_as_optional_map {
    template <class Signature>
    struct apply : identity<completion_signatures<Signature>> {};
    template <class... Values>
    struct apply<set_value_t(Values...)>
        : join_signatures<completion_signatures<set_value_t(std::optional<Value>)>,
                          throws_if<!nothrow_decay_copyable<Values...>>> {};
    template <class... None>
    struct apply<set_stopped_t(None...)> : identity<completion_signatures<>> {};
};

template <class Child>
consteval auto stopped_as_optional_signatures() {
    if constexpr (!is_signatures<Child>) {
        return Child{};
    } else if constexpr (count_of<Child, set_value_t> != 1) {
        return not_optional{};
    } else if constexpr (std::is_void_v<only_value_t<Child>>) {
        return not_optional{};
    } else {
        return map_signatures_t<Child, stopped_as_optional_map<only_value_t<Child>>>{};
    }
}

template <class Receiver, class Value>
struct stopped_as_optional_state {
    explicit stopped_as_optional_state(Receiver&& r) noexcept
        : receiver(static_cast<Receiver&&>(r)) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    template <class... Values>
    void complete(set_value_t, Values&&... values) noexcept {
        detail::complete_with(
            receiver,
            [](auto&&... each) noexcept(nothrow_decay_copyable<Values...>) {
                return std::optional<Value>(std::in_place, static_cast<decltype(each)>(each)...);
            },
            static_cast<Values&&>(values)...);
    }
    template <class Error>
    void complete(set_error_t, Error&& error) noexcept {
        set_error(static_cast<Receiver&&>(receiver), static_cast<Error&&>(error));
    }
    void complete(set_stopped_t) noexcept {
        set_value(static_cast<Receiver&&>(receiver), std::optional<Value>());
    }

    Receiver receiver;
};

template <class Child>
struct stopped_as_optional_sender {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return detail::stopped_as_optional_signatures<child_signatures<Self, Child, Env...>>();
    }

    template <class C, class Receiver>
    using operation = adaptor_operation<
        C, stopped_as_optional_state<Receiver, only_value_t<signatures_or_mistake<
                                                   C, forwarding_env_t<env_of_t<Receiver>>>>>>;

    template <receiver Receiver>
    auto connect(Receiver receiver) && noexcept(
        std::is_nothrow_constructible_v<operation<Child, Receiver>, Child, Receiver>) {
        return operation<Child, Receiver>(static_cast<Child&&>(child),
                                          static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) const& noexcept(
        std::is_nothrow_constructible_v<operation<const Child&, Receiver>, const Child&,
                                        Receiver>) {
        return operation<const Child&, Receiver>(child, static_cast<Receiver&&>(receiver));
    }
    auto get_env() const noexcept { return detail::without_completions(ex::get_env(child)); }

    [[no_unique_address]] Child child;
};

}  // namespace detail

/// Makes a stop a value: an empty optional.
struct stopped_as_optional_t {
    template <sender Sender>
    constexpr auto operator()(Sender&& sender) const {
        using result = detail::stopped_as_optional_sender<std::remove_cvref_t<Sender>>;
        detail::check_early<result>();
        return result{static_cast<Sender&&>(sender)};
    }
    constexpr auto operator()() const noexcept {
        return detail::bound_closure(stopped_as_optional_t{});
    }
};
inline constexpr stopped_as_optional_t stopped_as_optional{};

}  // namespace builtin
}  // namespace eddy::ex

#endif
