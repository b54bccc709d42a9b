// SPDX-License-Identifier: Apache-2.0

// Waits for readiness itself.
#include "engine/readiness/readiness_engine.hpp"

#include <cerrno>

namespace eddy {

progress readiness_engine::start_wait(io_operation& op) noexcept {
    // No edge follows a hang-up: then this looks first, to the effect of a level-triggered poller.
    if (op.request_.edge && !op.request_.slot->hangup_seen) {
        return block(op);
    }
    settle_mode(*op.request_.slot);
    const io_result ready = perform(op.request_);
    if (ready && ready.raw() == 0) {
        return block(op);
    }
    if (ready && (static_cast<interest>(ready.raw()) & interest::invalid) != interest::none) {
        on_invalid(*op.request_.slot);
        op.result_ = io_result::system_error(EBADF);
        return progress::finished;
    }
    if (op.request_.multishot && ready) {
        // Through the ready queue, so that the first result is like all others.
        if (block(op) == progress::finished) {
            return progress::finished;
        }
        op.told_ = static_cast<std::uint32_t>(ready.raw());
        make_runnable(op);
        return progress::pending;
    }
    op.result_ = ready;
    return progress::finished;
}

/// Goes on with a multishot wait that was notified. False: it has ended.
bool readiness_engine::waits_on(io_operation& op) noexcept {
    if (any(static_cast<interest>(op.result_.raw()) & (interest::error | interest::hangup))) {
        return false;
    }
    op.phase_ = phase::waiting;
    static_cast<void>(update(*op.request_.slot));  // a level-triggered poller, which cannot fail
    return true;
}

void readiness_engine::tell_waiters(fd_slot& slot, interest ready) noexcept {
    for (io_operation* op = slot.waiters.front(); op != nullptr;
         op = io_list::next(*op, slot.waiters)) {
        const auto unasked = interest::error | interest::hangup;
        const auto seen = ready & (static_cast<interest>(op->request_.flags) | unasked);
        if (any(seen)) {
            op->told_ |= static_cast<std::uint32_t>(seen);
            make_runnable(*op);
        }
    }
}

}  // namespace eddy
