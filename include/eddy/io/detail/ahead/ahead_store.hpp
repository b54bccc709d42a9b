// SPDX-License-Identifier: Apache-2.0

// Stores for the items of an ahead_queue, oldest first.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/loop/lease.hpp>

#include <cstddef>
#include <vector>

namespace eddy::detail {

/// A ring of connections.
class fd_ring {
public:
    /// Throws std::bad_alloc.
    explicit fd_ring(std::size_t capacity) : ring_(capacity) {}

    std::size_t size() const noexcept { return size_; }
    /// Grows if necessary; without memory for that it closes `fd`. The peer notices, nothing leaks.
    EDDY_API void push(unique_fd fd) noexcept;
    /// Precondition: size() != 0.
    EDDY_API unique_fd pop() noexcept;
    void clear() noexcept {
        ring_.clear();
        size_ = 0;
    }

private:
    std::vector<unique_fd> ring_;
    std::size_t oldest_ = 0;
    std::size_t size_ = 0;
};

/// A list of received buffers, linked through themselves: needs no memory, loses nothing.
class lease_chain {
public:
    explicit lease_chain(std::size_t) noexcept {}
    lease_chain(const lease_chain&) = delete;
    lease_chain& operator=(const lease_chain&) = delete;
    ~lease_chain() { clear(); }

    std::size_t size() const noexcept { return size_; }
    /// Precondition: `last` has a buffer.
    EDDY_API void push(lease last) noexcept;
    /// Precondition: size() != 0.
    EDDY_API lease pop() noexcept;
    EDDY_API void clear() noexcept;

private:
    lease_buffer* first_ = nullptr;
    lease_buffer* last_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace eddy::detail
