// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <liburing.h>
#include <sys/mman.h>

#include <cstddef>

#include "common/die.hpp"

namespace bench {

/// Buffers that the kernel picks from when data is there. It hands them out in turn, so the
/// distance between them is no power of two: their first lines would push each other out of the
/// cache.
class buffer_ring {
public:
    static constexpr unsigned count = 1024;
    static constexpr unsigned size = 64 * 1024;
    static constexpr std::size_t distance = size + 192;
    static constexpr int group = 0;

    explicit buffer_ring(io_uring& ring) {
        memory_ = static_cast<char*>(map(count * distance));
        ring_ = static_cast<io_uring_buf_ring*>(map(count * sizeof(io_uring_buf)));
        io_uring_buf_reg reg{};
        reg.ring_addr = reinterpret_cast<std::uintptr_t>(ring_);
        reg.ring_entries = count;
        reg.bgid = group;
        const int error = -io_uring_register_buf_ring(&ring, &reg, 0);
        if (error != 0) unavailable("io_uring buffer ring", error);
        io_uring_buf_ring_init(ring_);
        for (unsigned i = 0; i < count; ++i) give_back(static_cast<unsigned short>(i));
        publish();
    }

    char* at(unsigned short id) const noexcept { return memory_ + id * distance; }

    /// The kernel sees it at the next publish().
    void give_back(unsigned short id) noexcept {
        io_uring_buf_ring_add(ring_, at(id), size, id, io_uring_buf_ring_mask(count),
                              static_cast<int>(returned_++));
    }

    void publish() noexcept {
        io_uring_buf_ring_advance(ring_, static_cast<int>(returned_));
        returned_ = 0;
    }

private:
    static void* map(std::size_t bytes) {
        void* p =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) die("mmap");
        ::madvise(p, bytes, MADV_HUGEPAGE);  // or every buffer costs a walk of the page table
        ::madvise(p, bytes, MADV_POPULATE_WRITE);
        return p;
    }

    char* memory_;
    io_uring_buf_ring* ring_;
    unsigned returned_ = 0;
};

}  // namespace bench
