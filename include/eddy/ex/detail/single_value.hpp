// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completion_signatures.hpp>

#include <tuple>
#include <type_traits>

namespace eddy::ex {
namespace detail {

/// The values of one completion as a single type: void, the value's type, or a tuple.
template <class... Ts>
struct single_value : identity<std::tuple<std::decay_t<Ts>...>> {};
template <class T>
struct single_value<T> : identity<std::decay_t<T>> {};
template <>
struct single_value<> : identity<void> {};
template <class... Ts>
using single_value_t = typename single_value<Ts...>::type;

/// The type in a list of one type, and void for an empty list.
template <class List>
struct only_or_void;
template <>
struct only_or_void<type_list<>> : identity<void> {};
template <class T>
struct only_or_void<type_list<T>> : identity<T> {};
template <class Signatures>
using only_value_t = typename only_or_void<gather_t<Signatures, set_value_t, single_value_t>>::type;

}  // namespace detail
}  // namespace eddy::ex
