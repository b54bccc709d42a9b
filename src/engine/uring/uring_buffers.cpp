// SPDX-License-Identifier: Apache-2.0

// Shares the free buffers of the pool with the kernel.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_buffers.hpp"

#include <bit>
#include <new>

namespace eddy {

namespace {

constexpr std::align_val_t page{4096};

}  // namespace

void uring_buffers::page_deleter::operator()(io_uring_buf_ring* memory) const noexcept {
    ::operator delete(memory, page);
}

std::error_code uring_buffers::open(uring_ring& ring, const buffer_pool& pool) noexcept {
    entries_ = static_cast<unsigned>(std::bit_ceil(pool.max()));
    void* const memory = ::operator new(entries_ * sizeof(io_uring_buf), page, std::nothrow);
    if (memory == nullptr) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    queue_.reset(static_cast<io_uring_buf_ring*>(memory));
    io_uring_buf_ring_init(queue_.get());
    added_ = taken_ = 0;
    const auto error = ring.share_buffers(*queue_, entries_);
    if (error) {
        queue_.reset();
    }
    return error;
}

void uring_buffers::close() noexcept { queue_.reset(); }

void uring_buffers::refill(buffer_pool& pool) noexcept {
    const auto count = static_cast<int>(pool.free_count());
    if (count == 0) {
        return;
    }
    for (int i = 0; i != count; ++i) {
        detail::lease_buffer& buffer = pool.give_to_kernel();
        io_uring_buf_ring_add(queue_.get(), buffer.bytes(),
                              static_cast<unsigned>(pool.buffer_size()), buffer.number,
                              io_uring_buf_ring_mask(entries_), i);
    }
    added_ += static_cast<std::uint32_t>(count);
    io_uring_buf_ring_advance(queue_.get(), count);
}

}  // namespace eddy

#endif
