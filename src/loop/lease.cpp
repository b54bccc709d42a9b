// SPDX-License-Identifier: Apache-2.0

// Gives the buffers of receives to their completions, and takes them back.
#include <eddy/loop/lease.hpp>

#include "engine/buffer_pool.hpp"
#include "engine/engine.hpp"
#include "loop/lent.hpp"

#include <eddy/loop/loop.hpp>

namespace eddy {

void lease::give_back() noexcept {
    detail::lease_buffer& buffer = *std::exchange(buffer_, nullptr);
    buffer_pool& home = *buffer.home;
    if (const loop* const here = loop::current(); here != nullptr && here->leases_.get() == &home) {
        home.put(buffer);
    } else {
        home.give_back(buffer);
    }
}

lease loop::take_lease(const io_operation& op) noexcept {
    EDDY_ASSERT(lent_ != nullptr && lent_->op == &op,
                "the lease of a receive was asked for outside of its completion");
    return std::move(lent_->buffer);
}

}  // namespace eddy
