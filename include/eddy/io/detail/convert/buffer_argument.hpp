// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/detail/mistake.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace eddy::detail {

/// A type that converts to none of the `Forms` in which a transfer takes its buffers.
template <class Buffer, class... Forms>
concept no_buffer = !(std::convertible_to<Buffer, Forms> || ...);

/// Always fails to compile, with one line that says why `Buffer` is no buffer. Returns the type of
/// the transfer's sender, so that no other error follows.
template <class Sender, class Buffer>
Sender refuse_buffer() noexcept {
    if constexpr (std::convertible_to<Buffer, std::span<const std::byte>>) {
        static_assert(ex::detail::never<Buffer>,
                      "this buffer is const: nothing can be read into it");
    } else {
        static_assert(ex::detail::never<Buffer>,
                      "this is not a buffer of bytes: write eddy::bytes(buffer)");
    }
    __builtin_unreachable();
}

}  // namespace eddy::detail
