#include "engine/engine.hpp"
#include "engine/whole_transfer.hpp"
#include "kernel/fork_mark.hpp"
#include "loop/blocking_call.hpp"
#include "loop/patience.hpp"
#include "loop/system_timers.hpp"

#include <eddy/loop/loop.hpp>
#include <eddy/loop/stoppable_io.hpp>

#include <cerrno>
#include <new>
#include <thread>
#include <utility>

namespace eddy {

void loop::start(io_operation& op, const io_request& request) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.request_ = request;
    op.wanted_end_ = end_reason::none;
    if (begin(op, false)) {
        deliver(op);
    }
}

void loop::start(timed_io_operation& op, const io_request& request, time_point deadline) noexcept {
    EDDY_ASSERT(!op.pending(), "an operation was started that is pending already");
    op.request_ = request;
    op.wanted_end_ = end_reason::none;
    const bool there = begin(op, deadline != never);
    if (deadline != never && (!there || op.more_)) {
        limit(op, deadline);
    }
    if (there) {
        deliver(op);
    }
}

void loop::post_start(stoppable_io& io) noexcept {
    check_use();
    threads_inside_.fetch_add(1, std::memory_order_relaxed);  // as in hand_over()
    if (inbox_.push(io)) {
        engine_->wake();
    }
    threads_inside_.fetch_sub(1, std::memory_order_release);
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

/// True: the result is there.
bool loop::begin(io_operation& op, bool timed) noexcept {
    const io_request& request = op.request_;
    check_use();
    EDDY_ASSERT(on_thread() || !running_.load(std::memory_order_relaxed),
                "an operation was started by a thread that does not run its loop");
    EDDY_ASSERT(request.slot == nullptr || engine_->owns(*request.slot),
                "an operation was started with a descriptor of another loop");
    op.result_ = {};
    op.moved_ = 0;
    op.first_record_ = op.last_record_ = UINT32_MAX;
    op.in_progress_ = op.cancel_sent_ = op.ending_ = false;
    op.more_ = op.timed_ = false;
    if (!on_thread()) {
        engine_->disown();
        attend();
    }
    ++(op.background_ ? background_work_ : work_);
    op.phase_ = io_operation::phase::waiting;
    if (request.code == opcode::close) {
        return begin_close(op);
    }
    if (op.wanted_end_ != end_reason::none || destroying_ ||
        (draining_ && !ends_by_itself(op, timed))) {
        op.wanted_end_ = end_reason::canceled;
        op.result_ = io_result::system_error(ECANCELED);
        return true;
    }
    switch (engine_->start(op, may_complete_inline())) {
        case progress::pending:
            return false;
        case progress::blocking:
            return perform_blocking(op);
        case progress::more:
            op.more_ = true;
            return true;
        case progress::finished:
            break;
    }
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

/// A result is there in start(): calls the completion now, or later if that would be too deep. (One
/// with more() comes only where begin() let the engine try, so never here too deep.)
void loop::deliver(io_operation& op) noexcept {
    if (!may_complete_inline()) {
        op.phase_ = io_operation::phase::completed;
        ready_.push(op);
        return;
    }
    ++inline_depth_;
    ++counters_.inline_completions;
    complete(op);
    --inline_depth_;
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
    if (op.phase_ == io_operation::phase::away) {
        // An executor has it, and writes into its memory: that cannot be cancelled.
        const time_point give_up = saturating_add(clock::now(), patience);
        for (; op.phase_ == io_operation::phase::away; take_inbox()) {
            if (clock::now() >= give_up) {
                report_stuck();
            }
            std::this_thread::yield();
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

/// The operation is no longer one of this loop.
void loop::forget(io_operation& op) noexcept {
    --(op.background_ ? background_work_ : work_);
    if (op.timed_) {
        unlimit(static_cast<timed_io_operation&>(op));
    }
}

void loop::dispatch(io_operation& op) noexcept {
    op.more_ = false;
    if (op.phase_ == io_operation::phase::runnable) {
        switch (engine_->finish(op)) {
            case progress::pending:
                return;
            case progress::blocking:
                if (!perform_blocking(op)) {
                    return;
                }
                break;
            case progress::more:
                op.more_ = true;
                break;
            case progress::finished:
                break;
        }
    }
    complete(op);
}

void loop::complete(io_operation& op) noexcept {
    ++counters_.completions;
    if (!op.more_) {
        forget(op);
        op.phase_ = io_operation::phase::idle;
    }
    if (op.callback_ == nullptr) {
        engine_->drop_buffer(op);
    } else if (op.request_.code == opcode::receive) {
        complete_receive(op);
    } else {
        op.callback_(op);
    }
}

void loop::unlimit(timed_io_operation& op) noexcept {
    op.timed_ = false;
    if (op.limit_.armed()) {
        timers_.erase(op.limit_);
    }
    timers_.unreserve();
}

bool loop::perform_blocking(io_operation& op) noexcept {
    if (options_.blocking != nullptr && send_away(op)) {
        return false;
    }
    engine_->finished(op, perform_whole(op.request_));
    return true;
}

/// False: there is no memory for the trip.
bool loop::send_away(io_operation& op) noexcept {
    if (free_calls_ == nullptr) {
        free_calls_.reset(new (std::nothrow) blocking_call);
        if (free_calls_ == nullptr) {
            return false;
        }
    }
    blocking_call& call = *free_calls_.release();
    free_calls_ = std::move(call.next_free);
    call.home = this;
    call.operation = &op;
    call.request = op.request_;
    if (op.request_.slot != nullptr) {
        call.slot = *op.request_.slot;
        call.request.slot = &call.slot;
    }
    call.prev_away = nullptr;
    call.next_away = away_calls_;
    if (away_calls_ != nullptr) {
        away_calls_->prev_away = &call;
    }
    away_calls_ = &call;
    engine_->send_away(op);
    call.job.set_callbacks(
        [](entry& e) noexcept {
            blocking_call& self = detail::owner_of<&blocking_call::job>(e);
            self.send_back(perform_whole(self.request));
        },
        [](entry& e) noexcept {
            detail::owner_of<&blocking_call::job>(e).send_back(io_result::system_error(ECANCELED));
        });
    options_.blocking->post(call.job);
    return true;
}

/// Thread: the executor's.
void loop::blocking_call::send_back(io_result how) noexcept {
    result = how;
    loop& to = *home;
    // relaxed: it is the push that publishes; the loop cannot end before it has taken this call.
    to.threads_inside_.fetch_add(1, std::memory_order_relaxed);
    if (to.inbox_.push(*this)) {
        to.engine_->wake();
    }
    // release: pairs with ~loop(), which must not free what wake() uses.
    to.threads_inside_.fetch_sub(1, std::memory_order_release);
}

void loop::take_back(blocking_call& call) noexcept {
    if (call.operation != nullptr) {
        (call.prev_away != nullptr ? call.prev_away->next_away : away_calls_) = call.next_away;
        if (call.next_away != nullptr) {
            call.next_away->prev_away = call.prev_away;
        }
        engine_->came_back(*call.operation, call.result);
        ready_.push(*call.operation);
    }
    call.next_free = std::move(free_calls_);
    free_calls_.reset(&call);
}

/// In the child after fork(): the executor's threads are the parent's. A call that comes back all
/// the same, because the executor lives on here, finds its operation ended.
void loop::give_up_away() noexcept {
    for (blocking_call* call = away_calls_; call != nullptr; call = call->next_away) {
        io_operation& op = *std::exchange(call->operation, nullptr);
        engine_->came_back(op, io_result::system_error(ECANCELED));
        ready_.push(op);
    }
    away_calls_ = nullptr;
    threads_inside_.store(0, std::memory_order_relaxed);
}

}  // namespace eddy
