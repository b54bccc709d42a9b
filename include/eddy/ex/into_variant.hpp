// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/plain_adaptor.hpp>
#include <eddy/ex/detail/then.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::ex {

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

template <class Receiver, class Variant>
struct into_variant_state : plain_state<Receiver> {
    using plain_state<Receiver>::plain_state;
    using plain_state<Receiver>::receiver;

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
};

struct into_variant_kind {
    template <class Child>
    static consteval auto signatures() {
        if constexpr (!keepable<Child, set_value_t, set_error_t>) {
            return not_keepable{};
        } else {
            return join_signatures_t<completion_signatures<set_value_t(into_variant_type<Child>)>,
                                     map_signatures_t<Child, drop_values>,
                                     throws_if<!stores_nothrow<Child, set_value_t>>>{};
        }
    }
    template <class Receiver, class Child>
    using state = into_variant_state<Receiver, into_variant_type<Child>>;

    template <class Done, class Child>
    using sources = all_sources<source_if<Done, true>,
                                source_if<set_value_t, std::is_same_v<Done, set_error_t> &&
                                                           may_fail_to_store<Child, set_value_t>>>;
};

}  // namespace detail

/// Turns all ways in which a sender can succeed into one value: a variant of tuples.
struct into_variant_t : detail::plain_adaptor<into_variant_t, detail::into_variant_kind> {};
inline constexpr into_variant_t into_variant{};

}  // namespace eddy::ex

#endif
