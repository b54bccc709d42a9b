// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/env.hpp>

#include <concepts>
#include <type_traits>

namespace eddy::ex {

struct receiver_tag {};

/// A consumer of completions, which also provides an environment. Movable without exceptions.
template <class Receiver>
concept receiver =
    std::derived_from<typename std::remove_cvref_t<Receiver>::receiver_concept, receiver_tag> &&
    requires(const std::remove_cvref_t<Receiver>& receiver) {
        { get_env(receiver) } -> queryable;
    } && std::move_constructible<std::remove_cvref_t<Receiver>> &&
    std::is_nothrow_move_constructible_v<std::remove_cvref_t<Receiver>> &&
    std::constructible_from<std::remove_cvref_t<Receiver>, Receiver>;

namespace detail {

template <class Receiver, class Signature>
inline constexpr bool accepts = false;
template <class Receiver, class Tag, class... Args>
inline constexpr bool accepts<Receiver, Tag(Args...)> = std::is_invocable_v<Tag, Receiver, Args...>;

template <class Receiver, class Signatures>
inline constexpr bool accepts_all = false;
template <class Receiver, class... Signatures>
inline constexpr bool accepts_all<Receiver, completion_signatures<Signatures...>> =
    (accepts<Receiver, Signatures> && ...);

}  // namespace detail

template <class Receiver, class Signatures>
concept receiver_of =
    receiver<Receiver> && detail::accepts_all<std::remove_cvref_t<Receiver>, Signatures>;

}  // namespace eddy::ex

#endif
