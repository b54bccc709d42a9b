// SPDX-License-Identifier: Apache-2.0

// The less common starts and ends of operations: other threads, deadlines, closes, cancellation.
#include "engine/engine.hpp"
#include "kernel/pause.hpp"
#include "loop/blocking_call.hpp"
#include "loop/patience.hpp"
#include "loop/stranded_waits.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/detail/stoppable_io.hpp>
#include <eddy/loop/loop.hpp>

#include <cerrno>

namespace eddy {

void loop::post_start(stoppable_io& io) noexcept {
    check_use();
    expect_runner();
    threads_inside_.fetch_add(1, std::memory_order_relaxed);  // as in hand_over()
    if (inbox_.push(io)) {
        engine_->wake();
    }
    threads_inside_.fetch_sub(1, std::memory_order_release);
}

/// Whichever thread runs the loop next forgets the wait (run_scope).
void loop::expect_runner() noexcept {
#ifndef NDEBUG
    // relaxed: this only looks for misuse. The lock in begin() reveals a run that began earlier.
    if (!running_.load(std::memory_order_relaxed)) {
        stranded_waits::begin(*this);
        if (running_.load(std::memory_order_relaxed)) {
            stranded_waits::forget(*this);
        }
    }
#endif
}

void loop::post_stop(stoppable_io& io) noexcept {
    if (inbox_.push(io.stop_)) {
        engine_->wake();
    }
}

void loop::limit(timed_io_operation& op, time_point deadline) noexcept {
    if (op.phase_ == io_operation::phase::completed || op.request_.code == opcode::close) {
        return;
    }
    if (!timers_.reserve()) {
        engine_->cancel(op, end_reason::no_memory);
        return;
    }
    op.timed_ = true;
    op.limit_.owner = timer_owner::io_limit;
    timers_.insert(op.limit_, deadline.time_since_epoch().count());
}

/// Handles closes, and starts that are cancelled at once. True: the engine need not be asked;
/// `there` says if there is a result.
bool loop::begin_specially(io_operation& op, bool timed, bool& there) noexcept {
    if (op.request_.code == opcode::close) {
        there = begin_close(op);
        return true;
    }
    if (op.wanted_end_ == end_reason::none && !destroying_ && ends_by_itself(op, timed)) {
        return false;
    }
    op.wanted_end_ = end_reason::canceled;
    op.result_ = io_result::system_error(ECANCELED);
    there = true;
    return true;
}

bool loop::begin_close(io_operation& op) noexcept {
    fd_slot* const slot = op.request_.slot;
    if (slot == nullptr || slot->generation != op.request_.generation || slot->detaching) {
        op.result_ = io_result::system_error(EBADF);
        return true;
    }
    engine_->detach(*slot, detach_how::close, &op);
    return false;
}

void loop::cancel(io_operation& op) noexcept {
    check_use();
    attend();
    if (op.phase_ == io_operation::phase::posted) {
        op.wanted_end_ = end_reason::canceled;  // begin() sees it
    } else if (op.pending() && op.request_.code != opcode::close) {
        engine_->cancel(op, end_reason::canceled);
    }
}

void loop::abandon(io_operation& op) noexcept {
    check_use();
    if (!op.pending()) {
        return;
    }
    attend();
    if (engine_->leave_list(op)) {
        forget(op);
    } else {
        reclaim(op);
    }
}

void loop::reclaim(io_operation& op) noexcept {
    if (op.phase_ == io_operation::phase::away) {
        // An executor performs it and writes into its memory, which cannot be cancelled.
        const time_point give_up = saturating_add(clock::now(), patience);
        for (; op.phase_ == io_operation::phase::away; take_inbox()) {
            if (clock::now() >= give_up) {
                report_stuck();
            }
            kernel::yield();
        }
    }
    if (op.request_.code == opcode::close && op.phase_ != io_operation::phase::completed) {
        op.request_.slot->detached = nullptr;
        op.phase_ = io_operation::phase::idle;
    } else if (auto error = engine_->reclaim(op)) {
        report_stuck();
    }
    forget(op);
}

void loop::unlimit(timed_io_operation& op) noexcept {
    op.timed_ = false;
    if (op.limit_.armed()) {
        timers_.erase(op.limit_);
    }
    timers_.unreserve();
}

}  // namespace eddy
