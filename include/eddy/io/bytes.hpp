// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/mistake.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace eddy {

namespace detail {

template <class Range>
using span_of = decltype(std::span(std::declval<Range>()));

/// What can be seen as plain bytes: the elements lie side by side and mean nothing but themselves.
template <class Range>
concept byte_range = requires { typename span_of<Range>; } &&
                     std::is_trivially_copyable_v<typename span_of<Range>::element_type>;

template <class Range>
concept no_byte_range = !byte_range<Range>;

/// Fails to compile, and says in one line why there are no bytes to be seen.
template <class Range>
constexpr void explain_bytes() {
    if constexpr (byte_range<std::remove_reference_t<Range>&>) {
        static_assert(ex::detail::never<Range>,
                      "bytes: this temporary is gone before its bytes are used: give it a name");
    } else {
        static_assert(ex::detail::never<Range>,
                      "bytes: the argument must hold plain values side by side, as an array, a "
                      "std::string, a std::vector or a std::span does");
    }
}

template <class Element>
using byte_like = std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>;

}  // namespace detail

/// Whatever holds bytes, as the span that reads and writes take: arrays, std::string, std::vector,
/// std::span. A view: the bytes must outlive it; a temporary that owns its bytes is refused.
///
///     char buffer[4096];
///     std::size_t n = co_await socket.read_some(bytes(buffer));
///     co_await socket.write(bytes("HTTP/1.1 204 No Content\r\n\r\n"));
template <detail::byte_range Range>
auto bytes(Range&& range) noexcept {
    const std::span view(std::forward<Range>(range));
    using byte = detail::byte_like<typename decltype(view)::element_type>;
    return std::span<byte>(reinterpret_cast<byte*>(view.data()), view.size_bytes());
}

/// Never succeeds: says in words what is wrong.
template <detail::no_byte_range Range>
std::span<std::byte> bytes(Range&&) noexcept {
    detail::explain_bytes<Range>();
    return {};
}

/// A string literal, without its NUL.
template <std::size_t Size>
std::span<const std::byte> bytes(const char (&literal)[Size]) noexcept {
    return std::as_bytes(std::span(literal, Size - 1));
}

/// Bytes as text.
inline std::string_view as_text(std::span<const std::byte> data) noexcept {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace eddy
