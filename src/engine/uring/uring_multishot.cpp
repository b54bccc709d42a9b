// SPDX-License-Identifier: Apache-2.0

// Stores and delivers the results of multishot operations.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_engine.hpp"
#include "kernel/own_fd.hpp"

#include <eddy/base/assert.hpp>

#include <cerrno>

namespace eddy {

/// Stores the last result of a submission. A receive that may be submitted again stays first in
/// line until the results in front of this one are delivered.
void uring_engine::on_multishot(io_operation& op, std::int32_t result) noexcept {
    const bool receives = op.request_.code == opcode::receive;
    if (receives && result == -ENOBUFS && is_netlink(op) &&
        lacked_buffer(op, io_result::from_kernel(result))) {
        result = -EAGAIN;  // only now is it known whose ENOBUFS it is
    }
    keep_record(op, result);
    if (!receives || op.request_.slot->detaching) {
        leave_line(op);
    }
}

/// Takes the operation out of its list, if it is there, and lets the next one go.
void uring_engine::leave_line(io_operation& op) noexcept {
    if (op.list_next_ != nullptr) {
        io_list& list = list_of(op);
        unlink(op);
        activate(*op.request_.slot, list);
    }
}

void uring_engine::keep_record(io_operation& op, std::int32_t result) noexcept {
    if (op.request_.code == opcode::accept) {
        const io_result made = kernel::keep_off_standard(io_result::from_kernel(result));
        result = static_cast<std::int32_t>(made.raw());
    }
    results_.append(op.request_.records, result);
    if (op.cancel_sent_ && in_backlog(op)) {
        backlog_.erase(op);  // the cancellation waits in the backlog: results come first
        op.cancel_sent_ = false;
    }
    make_runnable(op);
}

progress uring_engine::finish(io_operation& op) noexcept {
    if (has_kept(op)) {
        const auto& buffer = *static_cast<detail::lease_buffer*>(op.request_.data);
        op.result_ = io_result::value(buffer.size);
        return go_on(op);
    }
    return finish_other(op);
}

progress uring_engine::finish_other(io_operation& op) noexcept {
    if (!has_record(op)) {
        EDDY_ASSERT(!op.in_kernel_, "an operation ends that the kernel still has");
        leave_line(op);
        op.result_ = result_of(op.wanted_end_);
        return progress::finished;
    }
    if (op.request_.code == opcode::receive) {
        return finish_receive(op);
    }
    const io_result result = io_result::from_kernel(results_.take(op.request_.records));
    if (op.request_.code == opcode::accept) {
        return finish_accept(op, result);
    }
    return finish_wait(op, result ? really_ready(op, result) : result);
}

progress uring_engine::go_on_otherwise(io_operation& op) noexcept {
    if (has_record(op) || (!op.in_kernel_ && op.wanted_end_ != end_reason::none)) {
        make_runnable(op);
    } else if (!op.in_kernel_) {
        if (!valid(op)) {
            op.wanted_end_ = end_reason::closed;
            make_runnable(op);
        } else {
            link(op);
            activate(*op.request_.slot, list_of(op));
        }
    } else if ((op.wanted_end_ != end_reason::none || is_worn(op)) && !op.cancel_sent_) {
        ask_to_end(op);
    }
    return progress::more;
}

progress uring_engine::finish_accept(io_operation& op, io_result result) noexcept {
    op.result_ = result;
    if (result) {
        op.gone_ = 0;
        op.request_.slot->accept_fails = false;
        return go_on(op);
    }
    if (op.wanted_end_ != end_reason::none) {
        if (op.in_kernel_ || has_record(op)) {
            // A connection was refused after the kernel had accepted it, and the kernel goes on.
            // The last result is still to come.
            static_cast<void>(go_on(op));
            return progress::pending;
        }
        op.result_ = ended(op, result);
        return progress::finished;
    }
    if (result.system_error() == EINVAL && ring_.multishot_accept()) {
        ring_.disable_multishot_accept();  // a kernel before 5.19, or no listener: try one by one
        static_cast<void>(go_on(op));
        return progress::pending;
    }
    if (result.system_error() == EINTR) {
        static_cast<void>(go_on(op));
        return progress::pending;
    }
    const accept_failure failure = classify_accept(result);
    if (failure == accept_failure::lasting) {
        EDDY_ASSERT(!op.in_kernel_, "an accept ends that the kernel still has");
        return progress::finished;
    }
    const bool told = tells_every_error(op.request_);
    if (failure != accept_failure::transient || told || !skips(op)) {
        static_cast<void>(note_accept(op.request_, failure, result));
    }
    const progress more = go_on(op);
    return told ? more : progress::pending;
}

progress uring_engine::finish_wait(io_operation& op, io_result result) noexcept {
    const bool last = !result || any(static_cast<interest>(result.raw()) & ends_readiness);
    if (!op.ending_ && result == io_result::value(0)) {
        static_cast<void>(go_on(op));  // nothing that was asked for
        return progress::pending;
    }
    if (!last && !op.ending_) {
        op.result_ = result;
        return go_on(op);
    }
    if (!op.ending_) {
        op.result_ = ended(op, result);
        op.ending_ = true;
    }
    while (has_record(op)) {
        static_cast<void>(
            results_.take(op.request_.records));  // behind a hang-up they say nothing new
    }
    if (!op.in_kernel_) {
        return progress::finished;
    }
    // The kernel goes on polling: the last result is delivered when it has stopped.
    op.phase_ = phase::waiting;
    cancel(op, end_reason::canceled);
    return progress::pending;
}

void uring_engine::drop_results(io_operation& op) noexcept {
    if (has_kept(op)) {
        drop_buffer(op);
    }
    while (has_record(op)) {
        if (op.request_.code == opcode::receive) {
            static_cast<void>(take_record_of_receive(op));
            drop_buffer(op);
        } else {
            drop_result(op.request_, io_result::from_kernel(results_.take(op.request_.records)));
        }
    }
}

}  // namespace eddy

#endif
