#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/then.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::ex {
inline namespace builtin {

namespace detail {

template <class Signatures>
using into_variant_type =
    rename_t<gather_t<Signatures, set_value_t, decayed_tuple>, variant_or_empty>;

struct drop_values {
    template <class Signature>
    struct apply : identity<completion_signatures<Signature>> {};
    template <class... Values>
    struct apply<set_value_t(Values...)> : identity<completion_signatures<>> {};
};

template <class Child>
consteval auto into_variant_signatures() {
    if constexpr (is_signatures<Child>) {
        return join_signatures_t<completion_signatures<set_value_t(into_variant_type<Child>)>,
                                 map_signatures_t<Child, drop_values>,
                                 throws_if<!stores_nothrow<Child, set_value_t>>>{};
    } else {
        return Child{};
    }
}

template <class Receiver, class Variant>
struct into_variant_state {
    explicit into_variant_state(Receiver&& r) noexcept : receiver(static_cast<Receiver&&>(r)) {}

    auto env() const noexcept { return detail::as_forwarding(get_env(receiver)); }

    template <class Done, class... Args>
    void complete(Done done, Args&&... args) noexcept {
        if constexpr (std::is_same_v<Done, set_value_t>) {
            detail::complete_with(
                receiver,
                [](auto&&... values) noexcept(nothrow_decay_copyable<Args...>) {
                    return Variant(std::in_place_type<decayed_tuple<Args...>>,
                                   static_cast<decltype(values)>(values)...);
                },
                static_cast<Args&&>(args)...);
        } else {
            done(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
        }
    }

    Receiver receiver;
};

template <class Child>
struct into_variant_sender {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return detail::into_variant_signatures<child_signatures<Self, Child, Env...>>();
    }

    template <class C, class Receiver>
    using operation = adaptor_operation<
        C, into_variant_state<Receiver, into_variant_type<signatures_or_mistake<
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
    auto get_env() const noexcept { return detail::as_forwarding(ex::get_env(child)); }

    [[no_unique_address]] Child child;
};

}  // namespace detail

/// Makes one value of all the ways in which a sender can succeed: a variant of tuples.
struct into_variant_t {
    template <sender Sender>
    constexpr auto operator()(Sender&& sender) const {
        using result = detail::into_variant_sender<std::remove_cvref_t<Sender>>;
        detail::check_early<result>();
        return result{static_cast<Sender&&>(sender)};
    }
    constexpr auto operator()() const noexcept { return detail::bound_closure(into_variant_t{}); }
};
inline constexpr into_variant_t into_variant{};

}  // namespace builtin
}  // namespace eddy::ex

#endif
