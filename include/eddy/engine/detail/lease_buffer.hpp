// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/intrusive/operation.hpp>

#include <cstddef>
#include <cstdint>

namespace eddy {

class buffer_pool;

namespace detail {

/// The header of a buffer that a loop lends. The bytes follow it.
struct alignas(64) lease_buffer : queue_node {
    enum class place : std::uint8_t { free, kernel, out };

    lease_buffer(buffer_pool& pool, std::uint16_t index) noexcept
        : queue_node(node_kind::lease), home(&pool), number(index) {}

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

    buffer_pool* home;
    lease_buffer* next_free = nullptr;
    std::uint32_t size = 0;  ///< how many bytes were received
    std::uint16_t number;    ///< in the pool
    place where = place::free;
};

/// Deletes the loop's reference to its pool, which lives on until the last buffer is back.
struct pool_leaver {
    EDDY_API void operator()(buffer_pool* pool) const noexcept;
};

}  // namespace detail

}  // namespace eddy
