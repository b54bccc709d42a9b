// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/meta.hpp>

#include <exception>

namespace eddy::ex {

namespace detail {

template <class Signature>
inline constexpr bool is_signature = false;
template <class... Args>
inline constexpr bool is_signature<set_value_t(Args...)> = true;
template <class Error>
inline constexpr bool is_signature<set_error_t(Error)> = true;
template <>
inline constexpr bool is_signature<set_stopped_t()> = true;

}  // namespace detail

/// The ways in which a sender can complete, written as function types: set_value_t(int),
/// set_error_t(std::error_code), set_stopped_t().
template <class... Signatures>
struct completion_signatures {
    static_assert((detail::is_signature<Signatures> && ...),
                  "completion_signatures: each must be set_value_t(...), set_error_t(one type) or "
                  "set_stopped_t()");
};

namespace detail {

template <class T>
inline constexpr bool is_signatures = false;
template <class... Signatures>
inline constexpr bool is_signatures<completion_signatures<Signatures...>> = true;

/// All signatures of several lists, without duplicates. A mistake among the lists is the result.
template <class... Lists>
struct join_signatures : identity<completion_signatures<>> {};
template <class List>
struct join_signatures<List> : identity<List> {};
template <class First, class Second, class... Rest>
struct join_signatures<First, Second, Rest...>
    : std::conditional_t<is_signatures<First>, join_signatures<Second, Rest...>, identity<First>> {
};
template <class... As, class... Bs, class... Rest>
struct join_signatures<completion_signatures<As...>, completion_signatures<Bs...>, Rest...>
    : join_signatures<rename_t<append_unique_t<type_list<As...>, Bs...>, completion_signatures>,
                      Rest...> {};
template <class... Lists>
using join_signatures_t = typename join_signatures<Lists...>::type;

/// Replaces each signature by those of Map::apply<Signature>::type. A mistake passes unchanged.
template <class List, class Map>
struct map_signatures : identity<List> {};
template <class... Signatures, class Map>
struct map_signatures<completion_signatures<Signatures...>, Map>
    : join_signatures<completion_signatures<>, typename Map::template apply<Signatures>::type...> {
};
template <class List, class Map>
using map_signatures_t = typename map_signatures<List, Map>::type;

using throws_t = completion_signatures<set_error_t(std::exception_ptr)>;
template <bool Throws>
using throws_if = std::conditional_t<Throws, throws_t, completion_signatures<>>;

/// type_list<Tuple<Args...>> for a signature of `Tag`, and an empty list for any other signature.
template <class Tag, template <class...> class Tuple, class Signature>
struct tuple_if : identity<type_list<>> {};
template <class Tag, template <class...> class Tuple, class... Args>
struct tuple_if<Tag, Tuple, Tag(Args...)> : identity<type_list<Tuple<Args...>>> {};

template <class List, class Tag, template <class...> class Tuple>
struct gather;
template <class... Signatures, class Tag, template <class...> class Tuple>
struct gather<completion_signatures<Signatures...>, Tag, Tuple>
    : concat<typename tuple_if<Tag, Tuple, Signatures>::type...> {};
template <class List, class Tag, template <class...> class Tuple>
using gather_t = typename gather<List, Tag, Tuple>::type;

template <class List>
inline constexpr std::size_t size_of = 0;
template <class... Ts>
inline constexpr std::size_t size_of<type_list<Ts...>> = sizeof...(Ts);

template <class List, class Tag>
inline constexpr std::size_t count_of = size_of<gather_t<List, Tag, type_list>>;

template <class List>
struct distinct;
template <class... Ts>
struct distinct<type_list<Ts...>> : append_unique<type_list<>, Ts...> {};
template <class List>
using distinct_t = typename distinct<List>::type;

template <class List, template <class> class Predicate>
inline constexpr bool all_of = true;
template <class... Ts, template <class> class Predicate>
inline constexpr bool all_of<type_list<Ts...>, Predicate> = (Predicate<Ts>::value && ...);

template <class List>
struct nothrow_results;
template <class... Ts>
struct nothrow_results<type_list<Ts...>> : std::bool_constant<nothrow_decay_copyable<Ts...>> {};

/// True if the arguments of every signature of `Tag` can be stored without an exception.
template <class List, class Tag>
inline constexpr bool stores_nothrow = all_of<gather_t<List, Tag, type_list>, nothrow_results>;

}  // namespace detail

}  // namespace eddy::ex

#endif
