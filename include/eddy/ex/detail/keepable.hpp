// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/mistake.hpp>

#include <type_traits>

namespace eddy::ex {
namespace detail {

template <class List>
struct keepable_results;
template <class... Ts>
struct keepable_results<type_list<Ts...>>
    : std::bool_constant<(std::is_constructible_v<std::decay_t<Ts>, Ts> && ...)> {};

/// True if an adaptor can keep copies of everything sent with these signatures and `Tags`.
template <class Signatures, class... Tags>
inline constexpr bool keepable =
    (all_of<gather_t<Signatures, Tags, type_list>, keepable_results> && ...);

EDDY_EX_MISTAKE(not_keepable,
                "a value or an error that this sender sends can be neither copied nor moved, and "
                "the adaptor must keep it");

}  // namespace detail
}  // namespace eddy::ex
