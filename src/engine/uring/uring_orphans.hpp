// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include "engine/uring/uring_buffers.hpp"
#include "engine/uring/uring_ring.hpp"

#include <eddy/engine/io_operation.hpp>

#include <cstdint>
#include <vector>

namespace eddy {

/// Operations that were taken back while the ring could not be entered. Their completions are still
/// to come and belong to nobody: whatever they bring is closed or given back.
class uring_orphans {
public:
    bool empty() const noexcept { return left_.empty(); }
    /// Makes room for one more orphan. False: there is no memory.
    [[nodiscard]] bool reserve() noexcept;
    /// Precondition: reserve().
    void add(const io_operation& op) noexcept;
    /// Marks the orphans' completions that have come, so that the engine ignores them.
    void bury(uring_ring& ring, uring_buffers& buffers, buffer_pool& pool) noexcept;
    /// Forgets all orphans. Called when the ring is gone.
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
