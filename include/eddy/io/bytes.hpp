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

/// Ranges that can be viewed as bytes: their elements are contiguous and trivially copyable.
template <class Range>
concept byte_range = requires { typename span_of<Range>; } &&
                     std::is_trivially_copyable_v<typename span_of<Range>::element_type>;

template <class Range>
concept no_byte_range = !byte_range<Range>;

/// Always fails to compile, with one line that says why `Range` cannot be viewed as bytes.
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

/// Returns the bytes of an array, std::string, std::vector or std::span as the span that reads and
/// writes take. The bytes must outlive this view; a temporary that owns its bytes is refused.
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

/// Catches every other argument, and fails to compile with a message that says what is wrong.
template <detail::no_byte_range Range>
std::span<std::byte> bytes(Range&&) noexcept {
    detail::explain_bytes<Range>();
    return {};
}

/// Returns the bytes of a string literal without its NUL.
template <std::size_t Size>
std::span<const std::byte> bytes(const char (&literal)[Size]) noexcept {
    return std::as_bytes(std::span(literal, Size - 1));
}

/// Returns bytes as text, without copying them.
inline std::string_view as_text(std::span<const std::byte> data) noexcept {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace eddy
