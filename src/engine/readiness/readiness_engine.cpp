// SPDX-License-Identifier: Apache-2.0

// The path of a transfer. Plain receives and sends take a shorter one.
#include "engine/readiness/readiness_engine.hpp"

#include "engine/readiness/readiness_calls.hpp"

#include <cerrno>

namespace eddy {

namespace {

/// True if a short transfer means that the next try would block: on TCP without urgent data, and
/// for writes to a pipe. Anywhere else only EAGAIN proves that. Waiting for an edge after a short
/// read hangs on unix sockets that pass descriptors, on terminals, at the mark of urgent data, on
/// inotify, and on a pipe that its writer has put into packet mode (which its reader cannot see). A
/// file that is sent may have come to its end.
inline bool short_means_empty(const fd_slot& slot, const io_request& request) noexcept {
    slot_state otherwise;
    otherwise.hangup_seen = otherwise.urgent_seen = otherwise.shared = true;
    if (slot.has_any(otherwise) || looks_elsewhere(request)) {
        return false;
    }
    return slot.kind == descriptor_kind::tcp
               ? request.code != opcode::send_file
               : slot.kind == descriptor_kind::pipe && !is_read(request.code);
}

/// True for calls on files, which block. A receive is small, and its buffer is the loop's.
bool blocks(const io_request& request) noexcept {
    return request.slot->kind == descriptor_kind::file && request.code != opcode::receive;
}

}  // namespace

progress readiness_engine::start(io_operation& op, bool may_try) noexcept {
    const io_request& request = op.request_;
    switch (is_plain(request) ? request.code : opcode::none) {
        case opcode::recv:
            return start_plain<opcode::recv>(op, may_try);
        case opcode::send:
            return start_plain<opcode::send>(op, may_try);
        case opcode::receive:
            return start_plain<opcode::receive>(op, may_try);
        default:
            return start_other(op, may_try);
    }
}

/// Starts a plain transfer in one of the ways that most starts take; start_transfer() knows all.
template <opcode Code>
inline progress readiness_engine::start_plain(io_operation& op, bool may_try) noexcept {
    constexpr bool reads = is_read(Code);
    fd_slot& slot = *op.request_.slot;
    io_list& list = reads ? slot.readers : slot.writers;
    const bool may = reads ? slot.may_read : slot.may_write;
    if (list.empty() && may && may_try) {
        return attempt_plain<Code>(op);
    }
    const bool will_be_told =
        reads ? slot.tells_of_data : edge_ && any(slot.registered & interest::writable);
    if (list.empty() && !may && will_be_told) {
        list.push_back(op);
        return progress::pending;
    }
    return start_transfer(op, may_try);
}

bool readiness_engine::moved_nothing(fd_slot& slot, opcode code, io_result result) noexcept {
    if (result.system_error() == EINTR) {
        return false;
    }
    if (result.would_block()) {
        cannot(slot, code);
        return false;
    }
    look_after(slot, result);
    return true;
}

progress readiness_engine::start_other(io_operation& op, bool may_try) noexcept {
    const io_request& request = op.request_;
    if (request.code == opcode::wait && only_joins(request)) {
        join(op);
        return progress::pending;
    }
    if (request.code == opcode::receive) {
        op.request_.size = pool_->buffer_size();
    }
    if (settled(op, op.result_)) {
        return progress::finished;
    }
    switch (request.code) {
        case opcode::open:
        case opcode::fsync:
            link(op);
            return progress::blocking;
        case opcode::wait:
            return start_wait(op);
        case opcode::connect:
            return start_connect(op);
        case opcode::shutdown:
            op.result_ = perform(request);
            return progress::finished;
        default:
            return start_transfer(op, may_try);
    }
}

progress readiness_engine::start_transfer(io_operation& op, bool may_try) noexcept {
    const bool first = list_of(op).empty();
    if (blocks(op.request_)) {
        link(op);
        if (op.request_.offset >= 0 || first) {
            if (may_try) {
                return progress::blocking;
            }
            make_runnable(op);
        }
        return progress::pending;
    }
    if (!first || op.request_.slot->backing_off) {
        link(op);
        return progress::pending;
    }
    return go(op, may_try);
}

/// Starts a transfer whose list is empty: at once, if that makes sense.
inline progress readiness_engine::go(io_operation& op, bool may_try) noexcept {
    if (!may(*op.request_.slot, op.request_)) {
        return block(op);
    }
    if (may_try) {
        return attempt(op);
    }
    link(op);
    make_runnable(op);
    return progress::pending;
}

progress readiness_engine::finish(io_operation& op) noexcept {
    switch (op.request_.code) {
        case opcode::recv:
            return attempt_plain<opcode::recv>(op);
        case opcode::receive:
            return finish_receive(op);
        case opcode::wait:
            return finish_wait(op);
        case opcode::connect:
            return finish_connect(op);
        default:
            return blocks(op.request_) ? progress::blocking : attempt(op);
    }
}

/// Makes the call. Precondition: the operation is the first of its list, or the list is empty.
progress readiness_engine::attempt(io_operation& op) noexcept {
    switch (op.request_.code) {
        case opcode::recv:
            return attempt_plain<opcode::recv>(op);
        case opcode::send:
            return attempt_plain<opcode::send>(op);
        case opcode::receive:
            return finish_receive(op);
        default:
            return attempt_other(op);
    }
}

progress readiness_engine::attempt_other(io_operation& op) noexcept {
    if (op.request_.code == opcode::receive) {
        op.request_.size = pool_->buffer_size();
    }
    if (lacks_buffer(op)) {
        hold(op);
        starve(op);
        return progress::pending;
    }
    return after(op, call_for(op));
}

io_result readiness_engine::call_for(io_operation& op) noexcept {
    return op.request_.code == opcode::receive ? receive(op) : perform(op.request_);
}

progress readiness_engine::after(io_operation& op, io_result result) noexcept {
    const io_request& request = op.request_;
    fd_slot& slot = *request.slot;
    if (result.system_error() == EINTR) {
        result = call_for(op);
    }
    if (result.would_block()) {
        return would_block(op);
    }
    if (request.code == opcode::accept) {
        return finish_accept(op, result);
    }
    if (result.count() != 0 && result.count() < offered(request) &&
        short_means_empty(slot, request)) {
        cannot(slot, request.code);
    }
    if (advance(op, result)) {
        return go_on(op);
    }
    if (request.multishot && result.count() != 0) {
        return receives_on(op, result);
    }
    done(op, total(op, result));
    look_after(slot, result);
    return progress::finished;
}

progress readiness_engine::would_block(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    cannot(slot, op.request_.code);
    if (!edge_ && slot.error_told) {
        // An error that no call clears (a queue that nobody reads) would be reported forever.
        back_off(slot);
    }
    return block(op);
}

/// Goes on with a transfer that has moved a part of what is wanted.
progress readiness_engine::go_on(io_operation& op) noexcept {
    if (!may(*op.request_.slot, op.request_)) {
        return block(op);
    }
    hold(op);
    make_runnable(op);
    return progress::pending;
}

}  // namespace eddy
