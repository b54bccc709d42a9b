// SPDX-License-Identifier: Apache-2.0

// Readiness waits for watches, whose callbacks are never called inside a call.
#include "engine/readiness/readiness_engine.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <cerrno>

namespace eddy {

/// Gives back the fd that a watch has to itself, together with its wait. False: nothing was done.
bool loop::part(io_operation& wait) noexcept {
    check_use();
    const bool pending = wait.pending();
    if (performer_ == nullptr || !performer_->part_with(wait)) {
        return false;
    }
    if (pending) {
        forget(wait);
    }
    return true;
}

/// Attaches an fd that part() has given back, and starts a new wait on it. False: nothing was done.
bool loop::watch_again(io_operation& wait, int fd, const char* name, interest wanted) noexcept {
    if (performer_ == nullptr || lost_by_fork() || !on_thread() || ends()) {
        return false;
    }
    fd_slot* const slot = performer_->attach_again(fd, name);
    if (slot == nullptr) {
        return false;
    }
    wait.request_.slot = slot;
    wait.request_.generation = slot->generation;
    wait.request_.flags = static_cast<int>(wanted);
    wait.request_.edge = true;
    if (performer_->only_joins(wait.request_)) {
        performer_->join(wait);
        count(wait);
    } else {
        start_queued(wait, io_request(wait.request_));
    }
    return true;
}

/// Starts a readiness wait with the request it has, if it only has to join a list, as most do.
/// False: nothing was done.
bool loop::wait_again(io_operation& op) noexcept {
    if (op.pending() || lost_by_fork() || !on_thread() || ends() ||
        !engine_->only_joins(op.request_)) {
        return false;
    }
    op.wanted_end_ = end_reason::none;
    op.told_ = 0;
    engine_->join(op);
    count(op);
    return true;
}

/// Starts a readiness wait again, changing only these parts of its request. The completion always
/// comes through the ready queue.
void loop::start_wait(io_operation& op, interest wanted, bool edge) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.request_.flags = static_cast<int>(wanted);
    op.request_.edge = edge;
    if (!wait_again(op)) {
        start_queued(op, io_request(op.request_));
    }
}

/// Completes the operation with `result`, behind others of its priority, without the engine.
void loop::complete_queued(io_operation& op, io_result result) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.wanted_end_ = ends() ? end_reason::canceled : end_reason::none;
    op.result_ = ends() ? io_result::system_error(ECANCELED) : result;
    op.more_ = op.timed_ = false;
    ++(op.background_ ? background_work_ : work_);
    op.phase_ = io_operation::phase::completed;
    ready_.push(op);
}

/// Takes a pending operation back without a completion. False: the kernel holds it; it was
/// cancelled, and completes.
bool loop::withdraw(io_operation& op) noexcept {
    check_use();
    if (!engine_->withdraw(op)) {
        return false;
    }
    forget(op);
    return true;
}

/// Changes the priority of an operation, even of one in the ready queue.
void loop::move(operation& op, priority_level priority) noexcept {
    EDDY_ASSERT(priority < priority_count, "a priority is 0 to 63");
    bool ready = ready_queue::contains(op);
    if (op.kind() == node_kind::io) {  // which may be in one of the engine's lists instead
        const auto phase = static_cast<io_operation&>(op).phase_;
        ready = ready &&
                (phase == io_operation::phase::runnable || phase == io_operation::phase::completed);
    }
    ready_.move(op, priority, ready);
}

}  // namespace eddy
