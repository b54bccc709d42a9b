#include "engine/engine.hpp"
#include "loop/blocking_call.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <cerrno>

namespace eddy {

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
