// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/attributes.hpp>
#include <eddy/ex/detail/keepable.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/detail/plain_adaptor.hpp>
#include <eddy/ex/detail/single_value.hpp>
#include <eddy/ex/detail/then.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {

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

template <class Receiver, class Value>
struct stopped_as_optional_state : plain_state<Receiver> {
    using plain_state<Receiver>::plain_state;
    using plain_state<Receiver>::receiver;

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
};

struct stopped_as_optional_kind {
    template <class Child>
    static consteval auto signatures() {
        if constexpr (count_of<Child, set_value_t> != 1) {
            return not_optional{};
        } else if constexpr (std::is_void_v<only_value_t<Child>>) {
            return not_optional{};
        } else if constexpr (!keepable<Child, set_value_t>) {
            return not_keepable{};
        } else {
            return map_signatures_t<Child, stopped_as_optional_map<only_value_t<Child>>>{};
        }
    }
    template <class Receiver, class Child>
    using state = stopped_as_optional_state<Receiver, only_value_t<Child>>;

    template <class Done, class Child>
    using sources = all_sources<source_if<Done, !std::is_same_v<Done, set_stopped_t>>,
                                source_if<set_stopped_t, std::is_same_v<Done, set_value_t>>,
                                source_if<set_value_t, std::is_same_v<Done, set_error_t> &&
                                                           may_fail_to_store<Child, set_value_t>>>;
};

}  // namespace detail

/// Turns the value into an optional, and a stop into an empty one.
struct stopped_as_optional_t
    : detail::plain_adaptor<stopped_as_optional_t, detail::stopped_as_optional_kind> {};
inline constexpr stopped_as_optional_t stopped_as_optional{};

}  // namespace eddy::ex

#endif
