// SPDX-License-Identifier: Apache-2.0

// Takes in the completions of operations that were taken back.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_orphans.hpp"

#include "engine/buffer_pool.hpp"
#include "engine/request_facts.hpp"
#include "kernel/io.hpp"

#include <algorithm>
#include <new>

namespace eddy {

bool uring_orphans::reserve() noexcept try {
    left_.reserve(left_.size() + 1);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

void uring_orphans::add(const io_operation& op) noexcept {
    left_.push_back({uring_ring::token(op), makes_fd(op.request().code)});
}

void uring_orphans::bury(uring_ring& ring, uring_buffers& buffers, buffer_pool& pool) noexcept {
    if (empty()) {
        return;
    }
    ring.for_each_unread([&](io_uring_cqe& cqe) {
        const auto found = std::find_if(left_.begin(), left_.end(), [&](const orphan& one) {
            return one.token == cqe.user_data;
        });
        if (found == left_.end()) {
            return;
        }
        cqe.user_data = uring_ring::nobodys_token;
        if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
            pool.put(buffers.take(pool, cqe.flags));
        } else if (found->makes_fd && cqe.res >= 0) {
            kernel::close(cqe.res);
        }
        if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
            left_.erase(found);
        }
    });
}

}  // namespace eddy

#endif
