#include "engine/uring_engine.hpp"

#include "engine/engine.hpp"

#if EDDY_HAS_IO_URING

#include "base/make_opened.hpp"
#include "base/report.hpp"
#include "engine/uring_faults.hpp"
#include "engine/uring_position.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/event.hpp"
#include "kernel/io.hpp"

#include <cerrno>
#include <thread>
#include <utility>

namespace eddy {

call_failure uring_engine::open(unsigned entries) noexcept {
    entries_ = entries;
    // Made once: other threads may be writing it while a ring replaces another.
    if (!wake_) {
        if (auto error = kernel::make_eventfd(wake_)) {
            return {error, "eventfd"};
        }
    }
    wake_fd_.store(wake_.get(), std::memory_order_relaxed);
    if (auto failure = ring_.open(entries, told_)) {
        return failure;
    }
    results_.clear();
    wake_armed_ = false;
    given_up_ = {};
    if (results_.grow(ring_.completion_entries())) {
        close_ring();
        return out_of_memory();
    }
    return {};
}

call_failure uring_engine::claim() noexcept {
    disown();
    if (ring_.belongs_to_another_thread()) {
        return {std::make_error_code(std::errc::operation_not_permitted)};
    }
    call_failure failure = ring_.is_open() ? call_failure() : open(entries_);
    // relaxed, as in settle(): inbox::park() publishes it to whoever is to wake.
    wake_fd_.store(wake_.get(), std::memory_order_relaxed);
    if (!failure) {
        failure = ring_.enable();
    }
    if (failure) {
        give_up_kernel(failure);
    }
    return failure;
}

/// A ring serves the thread that enabled it. Without operations nobody can tell two rings apart, so
/// that it can be dropped, for claim() to make another.
void uring_engine::disown() noexcept {
    if (!ring_.belongs_to_another_thread()) {
        return;
    }
    bool busy = !backlog_.empty() || !results_.unused();
    for_each_operation([&](io_operation&) { busy = true; });
    if (!busy) {
        close_ring();
    }
}

/// Sends and single receives that may go at once have a short way.
progress uring_engine::start(io_operation& op, bool may_try) noexcept {
    io_request& request = op.request_;
    if (!is_plain(request) || !backlog_.empty()) {
        return start_other(op);
    }
    fd_slot& slot = *request.slot;
    if (request.code == opcode::send && slot.writers.empty()) {
        if (may_try && std::exchange(lone_, false) && send_now(op)) {
            return progress::finished;
        }
        if (io_uring_sqe* const sqe = hand_over(op, slot.writers); sqe != nullptr) {
            uring_ring::prepare_send(*sqe, request);
            sqe->user_data = uring_ring::token(op);
            uring_faults::apply(*sqe, op);
            return progress::pending;
        }
    } else if (request.code == opcode::receive && !request.multishot && slot.readers.empty() &&
               starving_.empty() && buffers_.is_open()) {
        if (io_uring_sqe* const sqe = hand_over(op, slot.readers); sqe != nullptr) {
            request.size = pool_->buffer_size();
            op.buffers_ = buffers_.added();
            uring_ring::prepare_single_receive(*sqe, request);
            sqe->user_data = uring_ring::token(op);
            uring_faults::apply(*sqe, op);
            return progress::pending;
        }
    }
    return start_other(op);
}

/// The answer to what came alone. As an entry it would share its call with no other, and its end
/// would cost a turn. False: all of it, or the rest, has to wait.
bool uring_engine::send_now(io_operation& op) noexcept {
    const io_request& request = op.request_;
    const io_result result =
        kernel::send_once(request.slot->fd, request.data, request.size, request.flags);
    if (result.would_block() || result.system_error() == EINTR || advance(op, result)) {
        return false;
    }
    op.result_ = result;
    return true;
}

/// The entry of a plain operation, which is the first of its list. Null: there is no room.
inline io_uring_sqe* uring_engine::hand_over(io_operation& op, io_list& list) noexcept {
    io_uring_sqe* const sqe = ring_.next_sqe();
    if (sqe == nullptr) {
        return nullptr;
    }
    list.push_back(op);
    ++op.request_.slot->holds;
    op.phase_ = phase::waiting;
    op.in_kernel_ = true;
    op.in_a_row_ = 0;
    return sqe;
}

progress uring_engine::start_other(io_operation& op) noexcept {
    const io_request& request = op.request_;
    if (request.code == opcode::receive) {
        op.request_.size = pool_->buffer_size();
    }
    if (settled(op, op.result_)) {
        return progress::finished;
    }
    if (request.code == opcode::wait && is_ready_already(op)) {
        return progress::finished;
    }
    if (request.code == opcode::send_file) {
        if (auto error = prepare_send_file(op)) {
            op.result_ = io_result::system_error(error.value());
            return progress::finished;
        }
    }
    link(op);
    const bool pauses = request.code == opcode::accept && request.slot->backing_off;
    if (!pauses && may_submit(op)) {
        begin(op);
    }
    return progress::pending;
}

/// The ring is entered after a batch of completions, so a wait that only the kernel looks at is
/// overtaken by everything less urgent. A watch must not be: its wait is looked at here.
bool uring_engine::is_ready_already(io_operation& op) noexcept {
    if (op.request_.edge || op.request_.mode == 0) {
        return false;
    }
    const io_result now = perform(op.request_);
    const auto ready = static_cast<interest>(now.raw());
    if (!now || !any(ready) || any(ready & interest::invalid)) {
        return false;  // the kernel finds out, and says why
    }
    op.result_ = now;
    return true;
}

/// The kernel has no such operation: it polls, and the call is made here, which must not block.
std::error_code uring_engine::prepare_send_file(io_operation& op) noexcept {
    op.in_progress_ = true;
    fd_slot& slot = *op.request_.slot;
    if (slot.shared || slot.restore_blocking) {
        return {};
    }
    bool was = false;
    const auto error = kernel::set_nonblocking(slot.fd, true, was);
    slot.restore_blocking = !error && !was;
    return error;
}

/// The kernel would perform what it has of one descriptor in any order.
bool uring_engine::may_submit(io_operation& op) noexcept {
    io_list& list = list_of(op);
    if (list.front() == &op || !keeps_order(op.request_)) {
        return true;
    }
    const io_operation* first = list.front();
    while (first != nullptr && !keeps_order(first->request_)) {
        first = io_list::next(*first, list);
    }
    return first == &op;
}

/// The kernel would give a buffer to whoever comes; those that starve come first.
void uring_engine::begin(io_operation& op) noexcept {
    if (op.request_.code == opcode::receive && !starving_.empty()) {
        starve(op);
    } else {
        submit(op);
    }
}

/// Precondition: `op` is in its list.
void uring_engine::submit(io_operation& op) noexcept {
    op.phase_ = phase::waiting;
    op.in_kernel_ = true;
    op.in_a_row_ = 0;
    if (op.request_.slot != nullptr) {
        ++op.request_.slot->holds;
    }
    if (!backlog_.empty() || !fill(op)) {
        backlog_.push_back(op);
    }
}

bool uring_engine::fill(io_operation& op) noexcept {
    io_uring_sqe* sqe = ring_.next_sqe();
    if (sqe == nullptr) {
        return false;
    }
    if (op.request_.code == opcode::receive) {
        op.in_progress_ |= !kernel_picks_buffers();
        op.buffers_ = buffers_.added();
    }
    if (op.in_progress_) {
        uring_ring::prepare_poll(*sqe, op.request_);
    } else {
        uring_position::remember(op.request_);
        ring_.prepare(*sqe, op.request_);
    }
    sqe->user_data = uring_ring::token(op);
    uring_faults::apply(*sqe, op);
    return true;
}

bool uring_engine::fill_cancel(io_operation& op) noexcept {
    io_uring_sqe* const sqe = ring_.next_sqe();
    if (sqe == nullptr) {
        return false;
    }
    uring_ring::prepare_cancel(*sqe, op);
    return true;
}

void uring_engine::drain_backlog() noexcept {
    while (!backlog_.empty()) {
        auto& op = static_cast<io_operation&>(*backlog_.front());
        if (!(op.cancel_sent_ ? fill_cancel(op) : fill(op))) {
            return;
        }
        backlog_.erase(op);
    }
}

void uring_engine::cancel(io_operation& op, end_reason reason) noexcept {
    end_starving(op);
    if (op.phase_ == phase::completed || op.phase_ == phase::idle) {
        return;
    }
    if (op.wanted_end_ == end_reason::none) {
        op.wanted_end_ = reason;
    }
    if (!op.in_kernel_) {
        // Backing off, or between two submissions of a multishot operation.
        if (ready_queue::contains(op)) {
            if (reason == end_reason::closed || reason == end_reason::bad_fd) {
                leave_line(op);
            }
            return;  // finish() sees what is wanted
        }
        conclude(op, result_of(op.wanted_end_));
        return;
    }
    if (op.cancel_sent_) {
        return;
    }
    if (in_backlog(op)) {
        // Still in the backlog: the kernel has never seen it.
        backlog_.erase(op);
        op.in_kernel_ = false;
        fd_slot* const slot = op.request_.slot;
        conclude(op, result_of(op.wanted_end_));
        if (slot != nullptr) {
            let_go(*slot);
        }
        return;
    }
    ask_to_end(op);
}

/// The kernel is to complete what it has of the operation.
void uring_engine::ask_to_end(io_operation& op) noexcept {
    if (fill_cancel(op)) {
        op.cancel_sent_ = true;
    } else if (!ready_queue::contains(op)) {
        op.cancel_sent_ = true;
        backlog_.push_back(op);
    }  // else it has results to deliver first; go_on() comes back here
}

/// Submits what start() has held back, if it may go now.
void uring_engine::activate(fd_slot& slot, io_list& list) noexcept {
    if (slot.detaching || slot.backing_off) {
        return;
    }
    for (io_operation* op = list.front(); op != nullptr; op = io_list::next(*op, list)) {
        const bool held = !op->in_kernel_ && op->phase_ == phase::waiting;
        if (held && !ready_queue::contains(*op) && may_submit(*op)) {
            begin(*op);
        }
    }
}

void uring_engine::conclude(io_operation& op, io_result result) noexcept {
    io_list& list = list_of(op);
    complete(op, result);
    if (op.request_.slot != nullptr && !list.empty()) {
        activate(*op.request_.slot, list);
    }
}

void uring_engine::arm_wake() noexcept {
    if (io_uring_sqe* const sqe = ring_.next_sqe(); sqe != nullptr) {
        uring_ring::prepare_wake(*sqe, wake_.get());
        wake_armed_ = true;
    }
}

io_result uring_engine::wait(time_point until, bool& woken) noexcept {
    if (!wake_armed_) {
        if (given_up_) [[unlikely]] {
            return io_result::system_error(given_up_.value());
        }
        arm_wake();
    }
    const bool all_fed = feed_receives();
    drain_backlog();
    const bool may_block = until != time_point::min() && all_fed && wake_armed_ &&
                           backlog_.empty() && !ring_.has_completion() && may_sleep();
    if (auto error = ring_.enter(may_block ? 1 : 0, until)) {
        return cannot_enter(error, woken);
    }
    lone_ = reap(woken) == 1;
    if (!starving_.empty()) {
        static_cast<void>(feed_receives());
    }
    return {};
}

/// The kernel may be short of memory, or of room for completions: it has lost nothing, and goes on
/// with the rest in the next call. If there were completions, or results wait to be run, then that
/// makes room, and the next call comes soon enough.
io_result uring_engine::cannot_enter(std::error_code error, bool& woken) noexcept {
    const bool lacks_room = error.value() == EAGAIN || error.value() == EBUSY;
    const unsigned taken = reap(woken);
    lone_ = false;
    if (lacks_room && (taken != 0 || !ready_.empty())) {
        return {};
    }
    return io_result::system_error(error.value());
}

std::error_code uring_engine::quiesce(io_operation& op) noexcept {
    wait_while([&] { return op.in_kernel_; });
    return {};
}

std::error_code uring_engine::quiesce(fd_slot& slot) noexcept {
    wait_while([&] { return slot.holds != 0; });
    return {};
}

template <class Condition>
void uring_engine::wait_while(Condition&& condition) noexcept {
    bool woken = false;
    wait_retry retry;
    while (condition()) {
        drain_backlog();
        const std::error_code error =
            results_.full() ? results_.grow(ring_.completion_entries()) : ring_.enter(1, never);
        if (error && !endure(error, retry)) {
            break;
        }
        reap(woken);
    }
    if (woken) {
        wake();  // it was not for us
    }
}

/// True: the error may pass, and some time did. False: the ring is gone, and with it all that the
/// kernel held.
bool uring_engine::endure(std::error_code error, wait_retry& retry) noexcept {
    if (retry.failed(error, clock::now(), retry_limit_) == wait_retry::verdict::give_up) {
        reportf("%s: %s; the operations of the loop end without the kernel", wait_call(),
                words_of(error));
        give_up_kernel(error);
        return false;
    }
    std::this_thread::sleep_for(retry.pause());
    return true;
}

/// With its last descriptor and mapping gone, the kernel cancels what a ring has left.
void uring_engine::give_up_kernel(std::error_code error) noexcept {
    end_in_kernel();
    close_ring();
    wake_armed_ = false;
    given_up_ = error;
    table_.for_each([this](fd_slot& slot) {
        if (slot.fd >= 0 && slot.detaching && slot.holds == 0) {
            quiet(slot);
        }
    });
}

call_failure uring_engine::rebuild_after_fork() noexcept {
    // The mapping is shared with the parent: whatever this process wrote there would be the
    // parent's submission. Drop it and make another.
    end_in_kernel();
    close_ring();
    wake_.reset();
    told_.reset();  // the parent's too
    return open(entries_);
}

/// All operations without a result end, as if the kernel had none of them. The caller closes the
/// ring.
void uring_engine::end_in_kernel() noexcept {
    for_each_operation([this](io_operation& op) {
        end_starving(op);
        if (op.phase_ != phase::waiting && op.phase_ != phase::runnable) {
            return;
        }
        if (in_backlog(op)) {
            backlog_.erase(op);
        }
        if (op.in_kernel_ && op.request_.slot != nullptr) {
            --op.request_.slot->holds;
        }
        op.in_kernel_ = op.cancel_sent_ = false;
        uring_position::forget(op.request_);
        drop_results(op);
        op.wanted_end_ = end_reason::canceled;
        complete(op, result_of(end_reason::canceled));
    });
    ready_.for_each([this](operation& node) {
        if (node.kind() == node_kind::io) {
            drop_results(static_cast<io_operation&>(node));
        }
    });
}

call_failure make_uring_engine(ready_queue& ready, unsigned entries,
                               std::unique_ptr<engine>& out) noexcept {
    if (auto failure = uring_ring::try_out()) {
        return failure;
    }
    return make_opened<uring_engine>(
        out, [entries](auto& made) { return made.open(entries); }, ready);
}

}  // namespace eddy

#else

namespace eddy {

call_failure make_uring_engine(ready_queue&, unsigned, std::unique_ptr<engine>&) noexcept {
    return {make_error_code(errc::engine_not_built)};
}

}  // namespace eddy

#endif
