// SPDX-License-Identifier: Apache-2.0

// The path of an operation through the loop, as far as every request takes it.
#include "engine/readiness/readiness_calls.hpp"
#include "loop/blocking_call.hpp"
#include "loop/lent.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>

namespace eddy {

/// Calls the completion of a receive. The lent buffer belongs to this call, since the completion
/// may destroy the operation or start it again.
inline void loop::complete_receive(io_operation& op) noexcept {
    lent here{&op, lease(engine::take_buffer(op)), lent_};
    lent_ = &here;
    op.callback_(op);
    lent_ = here.outer;
}

/// Calls the completion. Precondition: the operation counts as work only if it has more().
inline void loop::tell(io_operation& op) noexcept {
    ++counters_.completions;
    if (!op.more_) {
        op.phase_ = io_operation::phase::idle;
    }
    if (op.callback_ == nullptr) {
        engine_->drop_buffer(op);
    } else if (op.request_.code == opcode::receive && !op.takes_lease_) {
        complete_receive(op);
    } else {
        op.callback_(op);
    }
}

inline void loop::complete(io_operation& op) noexcept {
    if (!op.more_ && !op.background_ && !op.timed_) [[likely]] {
        --work_;
    } else if (!op.more_) {
        forget(op);
    }
    tell(op);
}

/// True if there is a result.
inline bool loop::is_there(io_operation& op, progress how_far) noexcept {
    if (how_far == progress::finished) {
        return true;
    }
    if (how_far == progress::blocking) {
        return perform_blocking(op);
    }
    if (how_far == progress::pending) {
        return false;
    }
    op.more_ = true;
    return true;
}

inline void loop::take(io_operation& op, const io_request& request) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    EDDY_ASSERT(request.slot == nullptr || engine_->owns(*request.slot),
                "an operation was started with a descriptor of another loop");
    op.request_ = request;
    op.wanted_end_ = end_reason::none;
}

/// Starts the operation in the engine. `may_try`: may_complete_inline(). True: there is a result,
/// and the operation counts as work only if it has more().
[[gnu::always_inline]] inline bool loop::begin(io_operation& op, bool timed,
                                               bool may_try) noexcept {
    check_use();
    if (!may_try && !on_thread()) {
        EDDY_ASSERT(!running_.load(std::memory_order_relaxed),
                    "an operation was started by a thread that does not run its loop");
        engine_->disown();
        attend();
    }
    op.renew();
    if (op.wanted_end_ != end_reason::none || ends() || op.request_.code == opcode::close) {
        if (bool there = false; begin_specially(op, timed, there)) {
            if (!there) {
                count(op);
            }
            return there;
        }
    }
    const progress how_far = engine_->start(op, may_try);
    if (how_far == progress::finished) {
        return true;
    }
    count(op);
    if (how_far == progress::pending || !is_there(op, how_far)) {
        return false;
    }
    if (!op.more_) {
        forget(op);
    }
    return true;
}

/// Delivers a result through the ready queue. Precondition: the operation has no more().
inline void loop::queue_result(io_operation& op) noexcept {
    count(op);
    op.phase_ = io_operation::phase::completed;
    ready_.push(op);
}

/// Delivers the result of a start(): calls the completion now, or queues it if that would nest too
/// deeply. A result with more() comes only if begin() let the engine try, so never too deep.
[[gnu::always_inline]] inline void loop::deliver(io_operation& op, bool now) noexcept {
    if (!now) {
        queue_result(op);
        return;
    }
    ++inline_depth_;
    ++counters_.inline_completions;
    tell(op);
    --inline_depth_;
}

/// Starts the operation and delivers its result. True: there was one.
[[gnu::always_inline]] inline bool loop::begin_here(io_operation& op) noexcept {
    const bool now = may_complete_inline();
    if (!begin(op, false, now)) {
        return false;
    }
    deliver(op, now);
    return true;
}

bool loop::start_here(io_operation& op) noexcept { return begin_here(op); }

/// Makes the call of a transfer. Calls nothing else but the functions that end the transfer, so
/// that everything stays in registers.
template <opcode Code>
[[gnu::always_inline]] inline bool loop::transfer_at_once(fd_slot& slot, void* data,
                                                          std::size_t size, int flags,
                                                          io_result& result) noexcept {
    check_use();
    result = readiness_engine::transfer_now<Code>(slot, data, size, flags);
    if (result.raw() <= 0) [[unlikely]] {
        return moved_nothing(slot, Code, result);
    }
    if (result.count() != size) {
        readiness_engine::moved_part<Code>(slot);
    }
    ++counters_.completions;
    ++counters_.inline_completions;
    return true;
}

bool loop::moved_nothing(fd_slot& slot, opcode code, io_result result) noexcept {
    const bool there = performer_->moved_nothing(slot, code, result);
    counters_.completions += there ? 1U : 0U;
    counters_.inline_completions += there ? 1U : 0U;
    return there;
}

bool loop::send_at_once(fd_slot& to, const void* data, std::size_t size, int flags,
                        io_result& result) noexcept {
    return transfer_at_once<opcode::send>(to, const_cast<void*>(data), size, flags, result);
}

bool loop::recv_at_once(fd_slot& from, void* data, std::size_t size, int flags,
                        io_result& result) noexcept {
    return !looks_elsewhere(opcode::recv, flags) &&
           transfer_at_once<opcode::recv>(from, data, size, flags, result);
}

/// Starts an operation that was made for this start: most of its state needs no check or reset.
void loop::start_made(io_operation& op) noexcept {
    check_use();
    op.phase_ = io_operation::phase::waiting;
    if (ends() || op.request_.code == opcode::close) [[unlikely]] {
        start_here(op);
        return;
    }
    const bool now = options_.inline_max != 0 && counters_.completions < batch_limit_;
    const progress how_far = engine_->start(op, now);
    if (how_far == progress::pending) [[likely]] {
        count(op);
    } else {
        end_start(op, how_far, now);
    }
}

void loop::end_start(io_operation& op, progress how_far, bool now) noexcept {
    if (how_far != progress::finished) {
        count(op);
        if (!is_there(op, how_far)) {
            return;
        }
        forget(op);
    }
    deliver(op, now);
}

/// Starts the operation, whose completion always comes through the ready queue.
void loop::begin_queued(io_operation& op) noexcept {
    if (begin(op, false, may_complete_inline())) {
        queue_result(op);
    }
}

/// Starts the operation like start(), but its completion always comes through the ready queue.
void loop::start_queued(io_operation& op, const io_request& request) noexcept {
    take(op, request);
    begin_queued(op);
}

/// Makes the call of a transfer that need not wait, if a part will do. False: nothing was done.
inline bool loop::done_at_once(io_operation& op) noexcept {
    if (op.request_.all || !may_complete_inline() || !transfer_now(op.request_, op.result_)) {
        return false;
    }
    op.more_ = false;
    if (op.callback_ != nullptr) {
        ++inline_depth_;
        op.callback_(op);
        --inline_depth_;
    }
    return true;
}

void loop::start(io_operation& op, const io_request& request) noexcept {
    take(op, request);
    if (!done_at_once(op)) {
        begin_here(op);
    }
}

void loop::start(timed_io_operation& op, const io_request& request, time_point deadline) noexcept {
    take(op, request);
    const bool now = may_complete_inline();
    const bool there = begin(op, deadline != never, now);
    if (deadline != never && (!there || op.more_)) {
        limit(op, deadline);
    }
    if (there) {
        deliver(op, now);
    }
}

void loop::dispatch_other(io_operation& op) noexcept {
    op.more_ = false;
    const bool runnable = op.phase_ == io_operation::phase::runnable;
    if (runnable && performer_ != nullptr && op.request_.code == opcode::wait) {
        dispatch_wait(op);
    } else if (!runnable || is_there(op, engine_->finish(op))) {
        complete(op);
    }
}

/// Finishes a readiness wait. Most of them belong to watches.
inline void loop::dispatch_wait(io_operation& op) noexcept {
    if (performer_->finish_wait(op) == progress::finished) [[likely]] {
        complete(op);
    } else {
        op.more_ = true;
        tell(op);
    }
}

/// Dispatches an operation of any kind. A receive whose call is made here, as most are, does not
/// leave this function before its completion.
[[gnu::always_inline]] inline void loop::dispatch(io_operation& op) noexcept {
    if (performer_ == nullptr || op.request_.code != opcode::receive ||
        op.phase_ != io_operation::phase::runnable) {
        dispatch_other(op);
    } else if (op.easy_ != 0) {
        dispatch_easily(op);
    } else {
        dispatch_receive(op);
    }
}

[[gnu::always_inline]] inline void loop::dispatch_easily(io_operation& op) noexcept {
    if (performer_->finish_easy_receive(op) != progress::finished) [[unlikely]] {
        return;
    }
    --work_;
    ++counters_.completions;
    op.phase_ = io_operation::phase::idle;
    if (op.takes_lease_) {
        op.callback_(op);
    } else {
        complete_receive(op);
    }
}

[[gnu::always_inline]] inline void loop::dispatch_receive(io_operation& op) noexcept {
    op.more_ = false;
    const progress how_far = performer_->finish_receive(op);
    if (how_far == progress::finished) {
        complete(op);
    } else if (how_far == progress::more) {
        op.more_ = true;
        tell(op);
    }
}

[[gnu::always_inline]] inline void loop::dispatch(entry& e) noexcept {
    ++entries_done_;
    ++counters_.completions;
    const std::uint8_t state = e.state_.load(std::memory_order_relaxed);
    // A cancel() between the load and this store is too late and finds nothing to cancel. After the
    // store, the entry belongs to its owner.
    e.state_.store(entry::idle, std::memory_order_relaxed);
    entry::callback callback = e.on_run_;
    if (state != entry::is_posted) [[unlikely]] {
        callback = e.on_cancel_;
    }
    if (callback != nullptr) {
        callback(e);
    }
}

void loop::dispatch_timer(operation& op) noexcept {
    if (op.kind() == node_kind::timer) {
        dispatch(static_cast<timer&>(op));
    } else {
        dispatch(static_cast<local_timer&>(op));
    }
}

/// Dispatches an operation of the ready queue, which holds no other kinds.
[[gnu::always_inline]] inline void loop::dispatch(operation& op) noexcept {
    if (op.kind() == node_kind::io) [[likely]] {
        dispatch(static_cast<io_operation&>(op));
    } else if (op.kind() == node_kind::entry) [[likely]] {
        dispatch(static_cast<entry&>(op));
    } else {
        dispatch_timer(op);
    }
}

/// Runs what is ready, at most `budget` operations. Precondition: the run's limit is not reached.
void loop::run_ready(std::size_t budget) noexcept {
    // Inline completions count for the batch too; otherwise it would have no bound.
    const std::uint64_t left = completion_limit_ - counters_.completions;
    batch_limit_ = counters_.completions + std::min<std::uint64_t>(budget, left);
    if (stopping_ && !ends()) {
        return;
    }
    run_ready_limit_ = batch_limit_;
    if (ageing_) {
        run_aged(budget);
        return;
    }
    while (!ready_.empty()) {
        ready_queue::first_level level(ready_);
        do {
            dispatch(level.pop());
            if (--budget == 0 || counters_.completions >= run_ready_limit_) {
                return;
            }
        } while (level.is_first());
    }
}

void loop::run_aged(std::size_t budget) noexcept {
    while (!ready_.empty()) {
        dispatch(ageing_->pop(ready_));
        if (--budget == 0 || counters_.completions >= run_ready_limit_) {
            return;
        }
    }
}

}  // namespace eddy
