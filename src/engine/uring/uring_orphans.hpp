// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include "engine/uring/uring_buffers.hpp"
#include "engine/uring/uring_ring.hpp"

#include <eddy/engine/io_operation.hpp>

#include <cstdint>
#include <vector>

namespace eddy {

/// Operations that were taken back from the kernel while it could not be entered: their completions
/// are still to come, and nobody may be told. What they bring is closed or given back.
class uring_orphans {
public:
    bool empty() const noexcept { return left_.empty(); }
    /// Room for one more. False: there is no memory.
    [[nodiscard]] bool reserve() noexcept;
    /// Precondition: reserve().
    void add(const io_operation& op) noexcept;
    /// Makes those of their completions that are there mean nothing.
    void bury(uring_ring& ring, uring_buffers& buffers, buffer_pool& pool) noexcept;
    /// The ring is gone.
    void clear() noexcept { left_.clear(); }

private:
    struct orphan {
        std::uint64_t token;
        bool makes_fd;
    };

    std::vector<orphan> left_;
};

}  // namespace eddy

#endif
