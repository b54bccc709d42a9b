// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class... Ts>
struct type_list {};

template <class T>
struct identity {
    using type = T;
};

template <class T, class... Ts>
concept one_of = (std::is_same_v<T, Ts> || ...);

/// `List`, followed by those of `Ts` that it does not contain yet.
template <class List, class... Ts>
struct append_unique : identity<List> {};
template <class... Us, class T, class... Ts>
struct append_unique<type_list<Us...>, T, Ts...>
    : append_unique<std::conditional_t<one_of<T, Us...>, type_list<Us...>, type_list<Us..., T>>,
                    Ts...> {};
template <class List, class... Ts>
using append_unique_t = typename append_unique<List, Ts...>::type;

template <class... Lists>
struct concat : identity<type_list<>> {};
template <class... Ts>
struct concat<type_list<Ts...>> : identity<type_list<Ts...>> {};
template <class... Ts, class... Us, class... Lists>
struct concat<type_list<Ts...>, type_list<Us...>, Lists...>
    : concat<type_list<Ts..., Us...>, Lists...> {};
template <class... Lists>
using concat_t = typename concat<Lists...>::type;

/// Target<Ts...> for type_list<Ts...>.
template <class List, template <class...> class Target>
struct rename;
template <class... Ts, template <class...> class Target>
struct rename<type_list<Ts...>, Target> : identity<Target<Ts...>> {};
template <class List, template <class...> class Target>
using rename_t = typename rename<List, Target>::type;

template <class T, class... Ts>
consteval std::size_t index_of() {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<T, Ts> ? true : (++index, false)) || ...));
    return index;
}

/// `T` with the constness and the value category of `Self`. A prvalue counts as an rvalue.
template <class Self, class T>
struct like : identity<T> {};
template <class Self, class T>
struct like<const Self, T> : identity<const T> {};
template <class Self, class T>
struct like<Self&, T> : identity<typename like<Self, T>::type&> {};
template <class Self, class T>
struct like<Self&&, T> : like<Self, T> {};
template <class Self, class T>
using like_t = typename like<Self, T>::type;

/// Base of objects whose address others keep.
struct immovable {
    immovable() = default;
    immovable(immovable&&) = delete;
    immovable& operator=(immovable&&) = delete;
    ~immovable() = default;
};

template <class... Ts>
inline constexpr bool nothrow_decay_copyable =
    (std::is_nothrow_constructible_v<std::decay_t<Ts>, Ts> && ...);

}  // namespace detail
}  // namespace eddy::ex
