#include "engine/engine.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <cerrno>

namespace eddy {

/// The wait of a watch that has its fd to itself and gives it back. False: nothing was done, or
/// only the wait taken back.
bool loop::part(io_operation& wait) noexcept {
    check_use();
    attend();
    if (engine_->leave_list(wait)) {
        forget(wait);
    }
    fd_slot& slot = *wait.request_.slot;
    return !wait.pending() && slot.generation == wait.request_.generation && engine_->part(slot);
}

/// Starts a readiness wait anew, with what else its request has. Most only join a list. As in
/// start_queued(), its completion always comes through the ready queue.
void loop::start_wait(io_operation& op, interest wanted, bool edge) noexcept {
    check_use();
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.request_.flags = static_cast<int>(wanted);
    op.request_.edge = edge;
    if (!on_thread() || ends() || !engine_->only_joins(op.request_)) {
        start_queued(op, io_request(op.request_));
        return;
    }
    op.wanted_end_ = end_reason::none;
    op.told_ = 0;
    engine_->join(op);
    count(op);
}

/// Completes with that result, behind others of its priority, without asking the engine.
void loop::complete_queued(io_operation& op, io_result result) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.wanted_end_ = ends() ? end_reason::canceled : end_reason::none;
    op.result_ = ends() ? io_result::system_error(ECANCELED) : result;
    op.more_ = op.timed_ = false;
    ++(op.background_ ? background_work_ : work_);
    op.phase_ = io_operation::phase::completed;
    ready_.push(op);
}

/// Takes a pending operation back without its completion. False: the kernel holds it; it was
/// cancelled, and completes.
bool loop::withdraw(io_operation& op) noexcept {
    check_use();
    if (!engine_->withdraw(op)) {
        return false;
    }
    forget(op);
    return true;
}

/// Another priority, also for an operation that is in the ready queue.
void loop::move(operation& op, priority_level priority) noexcept {
    EDDY_ASSERT(priority < priority_count, "a priority is 0 to 63");
    bool ready = ready_queue::contains(op);
    if (op.kind() == node_kind::io) {  // it may be in one of the engine's lists instead
        const auto phase = static_cast<io_operation&>(op).phase_;
        ready = ready &&
                (phase == io_operation::phase::runnable || phase == io_operation::phase::completed);
    }
    ready_.move(op, priority, ready);
}

}  // namespace eddy
