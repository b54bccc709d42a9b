// SPDX-License-Identifier: Apache-2.0

// The part of every engine that lends buffers to receives.
#include "engine/buffer_pool.hpp"
#include "engine/engine.hpp"

#include <cerrno>

namespace eddy {

void engine::drop_buffer(io_operation& op) noexcept {
    if (detail::lease_buffer* const buffer = take_buffer(op); buffer != nullptr) {
        pool_->put(*buffer);
    }
}

io_result engine::keep_buffer(io_operation& op, detail::lease_buffer& buffer,
                              io_result result) noexcept {
    if (result.count() == 0) {
        pool_->put(buffer);
    } else {
        buffer.size = static_cast<std::uint32_t>(result.count());
        op.request_.data = &buffer;
    }
    return result;
}

bool engine::none_to_lend() noexcept { return !pool_->provide() && pool_->total() != 0; }

void engine::reserve_buffer(io_operation& op) noexcept { op.request_.data = &pool_->take(); }

io_result engine::receive(io_operation& op) noexcept {
    if (op.request_.data == nullptr) {
        if (!pool_->provide()) {
            return io_result::system_error(ENOMEM);
        }
        reserve_buffer(op);
    }
    detail::lease_buffer& buffer = *take_buffer(op);
    io_request request = op.request_;
    request.code = opcode::read;
    request.data = buffer.bytes();
    request.offset = -1;
    return keep_buffer(op, buffer, perform(request));
}

void engine::starve(io_operation& op) noexcept {
    op.phase_ = phase::starving;
    starving_.push_back(op);
}

void engine::end_starving(io_operation& op) noexcept {
    if (op.phase_ == phase::starving) {
        starving_.erase(op);
        op.phase_ = phase::waiting;
    }
}

bool engine::feed_starving(std::size_t with_kernel) noexcept {
    std::size_t left = with_kernel;
    if (pool_->provide()) {
        left += pool_->free_count();
    }
    const bool fed = left != 0;
    for (; left != 0 && !starving_.empty(); --left) {
        auto& op = static_cast<io_operation&>(*starving_.front());
        end_starving(op);
        resume(op);
    }
    return fed;
}

bool engine::park_pool() noexcept { return pool_->park(); }

}  // namespace eddy
