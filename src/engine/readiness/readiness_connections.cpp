// SPDX-License-Identifier: Apache-2.0

// Makes connections and accepts them.
#include "engine/readiness/readiness_engine.hpp"
#include "kernel/io.hpp"

#include <cerrno>

namespace eddy {

progress readiness_engine::start_connect(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    const io_result result = perform(op.request_);
    switch (result.system_error()) {
        case EINPROGRESS:
            op.in_progress_ = true;
            slot.may_read = slot.may_write = slot.hangup_seen = false;
            return block(op);
        case EAGAIN:  // a unix listener whose backlog is full, which no event reports
            back_off(slot);
            hold(op);
            return progress::pending;
        default:
            done(op, result);
            return progress::finished;
    }
}

progress readiness_engine::finish_connect(io_operation& op) noexcept {
    fd_slot& slot = *op.request_.slot;
    if (!op.in_progress_) {
        return start_connect(op);
    }
    const io_result ready = kernel::ready_now(slot.fd, interest::writable);
    if (ready && ready.raw() == 0) {
        slot.may_write = false;
        return block(op);
    }
    // A second connect() says how the first one has ended, and makes the socket fit for a third;
    // reading SO_ERROR does not. Only on TCP it is sure not to begin a new connection.
    done(op, slot.kind == descriptor_kind::tcp ? perform(op.request_)
                                               : kernel::connect_result(slot.fd));
    return progress::finished;
}

progress readiness_engine::finish_accept(io_operation& op, io_result result) noexcept {
    fd_slot& slot = *op.request_.slot;
    op.result_ = result;
    const accept_failure failure = classify_accept(result);
    const bool pauses = note_accept(op.request_, failure, result);
    if (pauses && !tells_every_error(op.request_)) {
        hold(op);
        return progress::pending;
    }
    if (!op.request_.multishot || failure == accept_failure::lasting) {
        done(op, result);
        look_after(slot, result);
        return progress::finished;
    }
    hold(op);
    if (!pauses) {
        make_runnable(op);
    }
    return progress::more;
}

}  // namespace eddy
