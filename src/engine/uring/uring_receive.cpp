// SPDX-License-Identifier: Apache-2.0

// Receives into buffers that the kernel picks, or that receives wait for.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_engine.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/io.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace eddy {

/// True if the kernel picks the buffers. False: receives poll, and the calls are made here.
bool uring_engine::kernel_picks_buffers() noexcept {
    if (buffers_.is_open() || buffers_refused_) {
        return buffers_.is_open();
    }
    const auto error = buffers_.open(ring_, *pool_);
    if (!error) {
        static_cast<void>(pool_->provide());
        buffers_.refill(*pool_);
        return true;
    }
    // Only the ring's thread may ask: the next thread may be luckier.
    buffers_refused_ = error != std::errc::file_exists;
    return false;
}

/// True if the kernel only polls for the operation, and the call is made here.
bool uring_engine::is_made_here(const io_operation& op) const noexcept {
    return op.request_.code == opcode::send_file ||
           (op.request_.code == opcode::receive && !buffers_.is_open());
}

bool uring_engine::is_netlink(const io_operation& op) noexcept {
    const fd_slot& slot = *op.request_.slot;
    return slot.kind == descriptor_kind::datagram && kernel::socket_domain(slot.fd) == AF_NETLINK;
}

/// True if the kernel had no buffer, which ENOBUFS means with one exception: a netlink socket that
/// was overrun says so too. That comes only if there was a buffer, since one is picked first.
bool uring_engine::lacked_buffer(const io_operation& op, io_result result) const noexcept {
    if (result.system_error() != ENOBUFS || op.request_.code != opcode::receive ||
        !buffers_.is_open()) {
        return false;
    }
    return buffers_.count() == 0 || !is_netlink(op);
}

/// Makes a receive wait, because the kernel had no buffer for it. False: there will never be one.
bool uring_engine::await_buffer(io_operation& op) noexcept {
    if (pool_->total() == 0 && !pool_->provide()) {
        return false;
    }
    if (op.buffers_ == buffers_.added()) {
        dry_at_ = buffers_.changes();
    }  // else it has got some since, which others may have by now
    starve(op);
    return true;
}

/// Returns the record of a result that waits behind others: the number of its buffer, or an error.
std::int32_t uring_engine::record_of(detail::lease_buffer& buffer, std::int32_t result) noexcept {
    if (result <= 0) {
        pool_->put(buffer);
        return result;
    }
    buffer.size = static_cast<std::uint32_t>(result);
    return buffer.number + 1;
}

io_result uring_engine::take_record_of_receive(io_operation& op) noexcept {
    const std::int32_t record = results_.take(op.request_.records);
    if (record <= 0) {
        return io_result::from_kernel(record);
    }
    detail::lease_buffer& buffer = pool_->at(static_cast<std::uint16_t>(record - 1));
    op.request_.data = &buffer;
    return io_result::value(buffer.size);
}

progress uring_engine::finish_receive(io_operation& op) noexcept {
    const io_result result = take_record_of_receive(op);
    if (op.in_kernel_ || has_record(op)) {
        op.result_ = result;
        return go_on(op);
    }
    op.phase_ = phase::waiting;
    // on_multishot() has found out whose ENOBUFS it is: the socket's.
    const bool overrun = result.system_error() == ENOBUFS && is_netlink(op);
    if (!overrun && op.wanted_end_ == end_reason::none && goes_on(op, result, false)) {
        return progress::pending;
    }
    op.result_ = overrun ? result : ended(op, result);
    leave_line(op);
    return progress::finished;
}

void uring_engine::resume(io_operation& op) noexcept {
    // The receive may have starved before it asked for data. Only sockets have a call that never
    // waits.
    const fd_slot& slot = *op.request_.slot;
    const bool would_wait =
        !is_socket(slot.kind) && kernel::ready_now(slot.fd, interest::readable).raw() == 0;
    if (buffers_.is_open() || would_wait) {
        submit(op);
        return;
    }
    // Acts as if the kernel had just reported that there may be data.
    reserve_buffer(op);
    op.in_progress_ = true;
    on_single(op, io_result::value(static_cast<std::int64_t>(interest::readable)));
}

/// Continues starving receives. False: more could go on, as some may not need their buffers.
bool uring_engine::feed_receives() noexcept {
    if (buffers_.is_open()) {
        pool_->collect();  // before feed(), which must know all buffers of the kernel
    }
    // A receive that was continued may not have needed its buffer, which the kernel still has. But
    // a kernel that has just said that it has none knows better.
    const bool trusted = buffers_.is_open() && dry_at_ != buffers_.changes();
    const bool fed = feed(trusted ? buffers_.count() : 0);
    if (buffers_.is_open()) {
        buffers_.refill(*pool_);
    }
    // Without a queue of buffers, receives that were continued may have their results by now.
    return !fed || (buffers_.is_open() && starving_.empty());
}

void uring_engine::close_ring() noexcept {
    ring_.close();
    wake_armed_ = prepared_ = false;
    orphans_.clear();
    if (buffers_.is_open()) {
        buffers_.close();
        pool_->recall_from_kernel();
    }
}

}  // namespace eddy

#endif
