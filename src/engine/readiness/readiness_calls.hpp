// SPDX-License-Identifier: Apache-2.0

// Inline bodies of the plain-transfer path. A system call spoils the processor's prediction of
// returns, so that each return from an enclosing function would be mispredicted.
#pragma once

#include "engine/buffer_pool.hpp"
#include "engine/readiness/readiness_engine.hpp"
#include "kernel/io.hpp"

namespace eddy {

/// Gives short_means_empty()'s answer for most plain transfers with one comparison.
inline bool short_empties(const fd_slot& slot) noexcept {
    slot_state asked;
    asked.hangup_seen = asked.urgent_seen = asked.shared = true;
    asked.kind = descriptor_kind{7};
    slot_state tcp;
    tcp.kind = descriptor_kind::tcp;
    return slot.is(asked, tcp);
}

template <opcode Code>
inline io_result readiness_engine::transfer_now(fd_slot& slot, void* data, std::size_t size,
                                                int flags) noexcept {
    return Code == opcode::recv ? kernel::recv_once(slot.fd, data, size, flags)
                                : kernel::send_once(slot.fd, data, size, flags);
}

template <opcode Code>
inline void readiness_engine::moved_part(fd_slot& slot) noexcept {
    if (short_empties(slot)) {
        cannot(slot, Code);
    }
}

inline progress readiness_engine::finish_receive(io_operation& op) noexcept {
    return is_socket(op.request_.slot->kind) ? attempt_plain<opcode::receive>(op)
                                             : attempt_other(op);
}
inline progress readiness_engine::finish_easy_receive(io_operation& op) noexcept {
    return attempt_plain<opcode::receive, true>(op);
}

/// Makes the call of a recv, a send, or a receive on a socket. after() handles the rarer results.
template <opcode Code, bool Easy>
inline progress readiness_engine::attempt_plain(io_operation& op) noexcept {
    io_request& request = op.request_;
    fd_slot& slot = *request.slot;
    io_result result;
    detail::lease_buffer* lent = nullptr;
    if constexpr (Code == opcode::recv) {
        result = kernel::recv_once(slot.fd, request.data, request.size, request.flags);
    } else if constexpr (Code == opcode::send) {
        result = kernel::send_once(slot.fd, request.data, request.size, request.flags);
    } else {
        request.size = pool_->buffer_size();
        lent = pool_->next();
        // The receive has a buffer already, or others wait for one.
        const bool otherwise = (!Easy && request.data != nullptr) || !starving_.empty();
        if (lent == nullptr || otherwise) [[unlikely]] {
            return attempt_other(op);
        }
        result = kernel::recv_once(slot.fd, lent->bytes(), request.size, 0);
    }
    if (result.raw() <= 0 || (!Easy && op.moved_ != 0)) [[unlikely]] {
        return after(op, result);
    }
    if constexpr (Code == opcode::receive) {
        lent->size = static_cast<std::uint32_t>(result.raw());
        request.data = &pool_->take();
    }
    if (result.count() != request.size) {
        const bool elsewhere = Code == opcode::recv && looks_elsewhere(request);
        if ((!Easy && request.all) || elsewhere || !short_empties(slot)) {
            return after(op, result);
        }
        cannot(slot, Code);
    }
    if constexpr (Code == opcode::receive && !Easy) {
        if (request.multishot) {
            return receives_on(op, result);
        }
    }
    done(op, is_read(Code) ? slot.readers : slot.writers, result);
    return progress::finished;
}

/// Goes on with a multishot receive that has got something.
inline progress readiness_engine::receives_on(io_operation& op, io_result result) noexcept {
    const fd_slot& slot = *op.request_.slot;
    op.result_ = result;
    hold(op);
    if (slot.may_read || !slot.tells_of_data) {
        make_runnable(op);  // there is more, or the poller must learn that it waits
    }
    return progress::more;
}

}  // namespace eddy
