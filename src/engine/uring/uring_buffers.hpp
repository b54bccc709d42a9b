// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include "engine/buffer_pool.hpp"
#include "engine/uring/uring_ring.hpp"

#include <cstdint>
#include <memory>

namespace eddy {

/// The queue of buffers that is shared with the kernel, which picks one when there is data.
/// Linux 5.19 or later.
class uring_buffers {
public:
    bool is_open() const noexcept { return queue_ != nullptr; }
    /// Makes a queue with room for all buffers of the pool.
    std::error_code open(uring_ring& ring, const buffer_pool& pool) noexcept;
    /// Frees the queue. Precondition: the ring was closed.
    void close() noexcept;

    /// Hands all free buffers of the pool to the kernel.
    void refill(buffer_pool& pool) noexcept;
    detail::lease_buffer& take(buffer_pool& pool, std::uint32_t flags_of_completion) noexcept {
        ++taken_;
        return pool.taken_by_kernel(
            static_cast<std::uint16_t>(flags_of_completion >> IORING_CQE_BUFFER_SHIFT));
    }

    /// Returns a number that grows with each buffer that is handed over.
    std::uint32_t added() const noexcept { return added_; }
    /// Returns how many buffers the kernel has, as far as its completions tell.
    std::size_t count() const noexcept { return added_ - taken_; }
    /// Returns a number that grows with each change.
    std::uint32_t changes() const noexcept { return added_ + taken_; }

private:
    struct page_deleter {
        void operator()(io_uring_buf_ring* memory) const noexcept;
    };

    std::unique_ptr<io_uring_buf_ring, page_deleter> queue_;
    unsigned entries_ = 0;
    std::uint32_t added_ = 0;
    std::uint32_t taken_ = 0;
};

}  // namespace eddy

#endif
