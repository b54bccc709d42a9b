// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/meta.hpp>

#include <cstddef>
#include <utility>

namespace eddy::ex {
namespace detail {

struct from_values_t {};
struct from_functions_t {};
inline constexpr from_values_t from_values{};
inline constexpr from_functions_t from_functions{};

template <std::size_t Index, class T>
struct product_element {
    T value;
};

/// A minimal tuple. Elements are built from values or, if they cannot move, by functions. apply()
/// passes all elements to a function.
template <class Indices, class... Ts>
struct indexed_product;

template <std::size_t... Is, class... Ts>
struct indexed_product<std::index_sequence<Is...>, Ts...> : product_element<Is, Ts>... {
    constexpr indexed_product() = default;

    template <class... Us>
    explicit constexpr indexed_product(from_values_t, Us&&... values) noexcept(
        (std::is_nothrow_constructible_v<Ts, Us> && ...))
        : product_element<Is, Ts>{Ts(static_cast<Us&&>(values))}... {}

    template <class... Functions>
    explicit constexpr indexed_product(from_functions_t, Functions&&... functions) noexcept(
        (noexcept(static_cast<Functions&&>(functions)()) && ...))
        : product_element<Is, Ts>{static_cast<Functions&&>(functions)()}... {}

    template <class Function>
    constexpr decltype(auto) apply(Function&& function) & {
        return static_cast<Function&&>(function)(this->product_element<Is, Ts>::value...);
    }
    template <class Function>
    constexpr decltype(auto) apply(Function&& function) const& {
        return static_cast<Function&&>(function)(this->product_element<Is, Ts>::value...);
    }
    /// Passes the elements as rvalues, except that an element of lvalue reference type stays an
    /// lvalue.
    template <class Function>
    constexpr decltype(auto) apply(Function&& function) && {
        return static_cast<Function&&>(function)(
            static_cast<Ts&&>(this->product_element<Is, Ts>::value)...);
    }
};

template <class... Ts>
using product = indexed_product<std::index_sequence_for<Ts...>, Ts...>;

template <class... Ts>
using decayed_product = product<std::decay_t<Ts>...>;

template <std::size_t Index, class T>
constexpr T& element(product_element<Index, T>& part) noexcept {
    return part.value;
}

}  // namespace detail
}  // namespace eddy::ex
