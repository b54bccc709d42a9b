// SPDX-License-Identifier: Apache-2.0

// Submits and cancels operations, waits for the kernel, and copes with a kernel that refuses.
#include "engine/uring/uring_engine.hpp"

#include "engine/engine.hpp"

#if EDDY_HAS_IO_URING

#include "base/make_opened.hpp"
#include "base/report.hpp"
#include "engine/uring/uring_faults.hpp"
#include "engine/uring/uring_position.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/event.hpp"
#include "kernel/io.hpp"
#include "kernel/pause.hpp"

#include <eddy/engine/detail/wait_retry.hpp>

#include <cerrno>
#include <chrono>
#include <utility>

namespace eddy {

namespace {

constexpr const char* enter_call = "io_uring_enter";

/// How long the kernel may take to cancel what one of its own threads performs.
constexpr duration patience_of_cancel = std::chrono::seconds(1);

}  // namespace

call_failure uring_engine::open(unsigned entries) noexcept {
    entries_ = entries;
    // Made once: other threads may be writing it while another ring is made.
    if (!wake_) {
        if (auto error = kernel::make_eventfd(wake_)) {
            return {error, "eventfd"};
        }
    }
    wake_fd_.store(wake_.get(), std::memory_order_relaxed);
    if (auto failure = ring_.open(entries, told_)) {
        return failure;
    }
    if (results_.unused()) {
        results_.clear();
    }
    if (results_.grow(ring_.completion_entries())) {
        close_ring();
        return out_of_memory();
    }
    return {};
}

bool uring_engine::claim() noexcept {
    disown();
    if (ring_.belongs_to_another_thread()) {
        return false;
    }
    // relaxed, as in settle(): inbox::park() publishes it to the thread that is to wake the loop.
    wake_fd_.store(wake_.get(), std::memory_order_relaxed);
    ring_.run_begins();
    return true;
}

/// Drops a ring of another thread if there are no operations; wait() then makes another. A ring
/// serves only the thread that enabled it, and without operations nobody can tell two rings apart.
void uring_engine::disown() noexcept {
    if (!ring_.belongs_to_another_thread()) {
        return;
    }
    bool busy = !backlog_.empty() || !results_.unused();
    for_each_operation([&](io_operation&) { busy = true; });
    if (!busy) {
        orphans_.bury(ring_, buffers_, *pool_);
        close_ring();
    }
}

/// Starts an operation. Plain sends and single receives that may go at once take a short path.
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

/// Makes the call of a send that answers the only completion of a wait. As an entry it would share
/// its system call with no other, and its end would cost a turn. False: it, or a rest, must wait.
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

/// Returns an entry for a plain operation, which becomes the first of its list. Null: no room.
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

/// Looks at the fd of a watch. A watch that is ready must be called before everything less urgent,
/// but the kernel looks only when the ring is entered, after a batch of completions.
bool uring_engine::is_ready_already(io_operation& op) noexcept {
    if (op.request_.edge || op.request_.mode == 0) {
        return false;
    }
    const io_result now = perform(op.request_);
    const auto ready = static_cast<interest>(now.raw());
    if (!now || !any(ready) || any(ready & interest::invalid)) {
        return false;  // the kernel will find out, and say why
    }
    op.result_ = now;
    return true;
}

/// Prepares a send_file, which the kernel lacks: the kernel polls, and a call is made that must not
/// block.
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

/// True if no earlier operation must go first: the kernel would perform them in any order.
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

/// Submits the operation, unless receives starve: those come first, but the kernel would give a
/// buffer to any receive.
void uring_engine::begin(io_operation& op) noexcept {
    if (op.request_.code == opcode::receive && !starving_.empty()) {
        starve(op);
    } else {
        submit(op);
    }
}

/// Submits the operation, or puts it into the backlog. Precondition: `op` is in its list.
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
        // The operation backs off, or is between two submissions of a multishot operation.
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
        // The kernel has never seen it.
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

/// Asks the kernel to complete what it has of the operation.
void uring_engine::ask_to_end(io_operation& op) noexcept {
    if (fill_cancel(op)) {
        op.cancel_sent_ = true;
    } else if (!ready_queue::contains(op)) {
        op.cancel_sent_ = true;
        backlog_.push_back(op);
    }  // else its results come first; go_on() comes back here
}

/// Submits what start() has held back, as far as it may go now.
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
        uring_faults::apply_to_poll(*sqe);
        wake_armed_ = true;
    }
}

/// Prepares what a wait needs besides submissions: an enabled ring that can be woken, and no
/// orphans.
call_failure uring_engine::prepare_wait(bool& woken) noexcept {
    if (!ring_.is_open()) {
        if (auto failure = open(entries_)) {
            return failure;
        }
    }
    if (auto failure = ring_.enable()) {
        return failure;
    }
    // Alone, before anything is submitted: a new operation may have the address of an orphan.
    if (!orphans_.empty()) {
        if (auto error = ring_.flush()) {
            return {error, enter_call};
        }
        orphans_.bury(ring_, buffers_, *pool_);
    }
    if (!orphans_.empty()) {
        return enter_and_reap(0, woken);
    }
    if (!wake_armed_) {
        arm_wake();
    }
    prepared_ = wake_armed_;
    return {};
}

io_result uring_engine::wait(time_point until, bool& woken) noexcept {
    if (!prepared_) [[unlikely]] {
        const call_failure failure = prepare_wait(woken);
        if (failure || !orphans_.empty()) {
            return failed(failure);
        }
    }
    const bool all_fed = feed_receives();
    drain_backlog();
    const bool may_block = until != time_point::min() && all_fed && prepared_ && backlog_.empty() &&
                           !ring_.has_completion() && may_sleep();
    if (auto error = ring_.enter(may_block ? 1 : 0, until)) {
        return cannot_enter(error, woken);
    }
    lone_ = reap(woken) == 1;
    if (!starving_.empty()) {
        static_cast<void>(feed_receives());
    }
    if (!prepared_) [[unlikely]] {
        return cannot_be_woken();
    }
    return {};
}

/// Called when the poll by which other threads wake the loop has ended. After an error, the next
/// wait would end at once with the same error.
io_result uring_engine::cannot_be_woken() noexcept {
    const int error = std::exchange(wake_error_, 0);
    return error == 0 ? io_result() : failed({{error, std::system_category()}, enter_call});
}

/// Called when the ring could not be entered. A kernel that is short of memory, or of room for
/// completions, has lost nothing and goes on with the rest in the next call. Completions that were
/// taken, or results that wait to be run, make room, and the next call comes soon enough.
io_result uring_engine::cannot_enter(std::error_code error, bool& woken) noexcept {
    const bool lacks_room = error.value() == EAGAIN || error.value() == EBUSY;
    const unsigned taken = reap(woken);
    lone_ = false;
    if (lacks_room && (taken != 0 || !ready_.empty())) {
        return {};
    }
    return failed({error, enter_call});
}

/// Returns a failure as the result of wait().
io_result uring_engine::failed(const call_failure& failure) noexcept {
    failed_call_ = failure.call;
    return failure ? io_result::system_error(failure.error.value()) : io_result();
}

std::error_code uring_engine::quiesce(io_operation& op) noexcept {
    wait_while([&] { return op.in_kernel_; }, [&] { orphan(op); });
    return {};
}

std::error_code uring_engine::quiesce(fd_slot& slot) noexcept {
    const auto orphan_all = [&] {
        for (const io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
            list->for_each([&](io_operation& op) {
                if (op.in_kernel_) {
                    orphan(op);
                }
            });
        }
    };
    wait_while([&] { return slot.holds != 0; }, orphan_all);
    return {};
}

/// Enters the ring until the condition no longer holds. If the ring cannot be entered,
/// `make_orphans` may see to that.
template <class Condition, class MakeOrphans>
void uring_engine::wait_while(Condition&& condition, MakeOrphans&& make_orphans) noexcept {
    bool woken = false;
    wait_retry retry;
    while (condition()) {
        const call_failure failure = enter_and_reap(1, woken);
        if (failure && condition()) {
            make_orphans();
        }
        if (!failure || !condition()) {
            continue;
        }
        if (retry.failed(failure, clock::now(), retry_limit_) == wait_retry::verdict::give_up) {
            reportf("%s: %s; the operations of the loop end without the kernel", failure.call,
                    words_of(failure));
            give_up_kernel();
            break;
        }
        kernel::pause_for(retry.pause());
    }
    if (woken) {
        wake();  // it was meant for another wait
    }
}

/// Enters the ring and takes the completions, even if it cannot be entered.
call_failure uring_engine::enter_and_reap(unsigned wait_for, bool& woken) noexcept {
    drain_backlog();
    if (results_.full() && results_.grow(ring_.completion_entries())) {
        return out_of_memory();
    }
    const std::error_code error = ring_.enter(wait_for, never);
    orphans_.bury(ring_, buffers_, *pool_);
    const bool made_room = reap(woken) != 0;
    return error && !made_room ? call_failure{error, enter_call} : call_failure();
}

/// Ends what the kernel has of an operation, without entering the ring. The completion comes when
/// the ring can be entered again, and belongs to nobody. Does nothing if the kernel refuses.
void uring_engine::orphan(io_operation& op) noexcept {
    if (ring_.unsubmit(op)) {
        leaves_kernel(op);
    } else if (orphans_.reserve() && !ring_.cancel(op, patience_of_cancel)) {
        orphans_.add(op);
        prepared_ = false;
        leaves_kernel(op);
    }
}

/// Ends an operation as if the kernel had cancelled it. Earlier results are delivered first.
void uring_engine::leaves_kernel(io_operation& op) noexcept {
    if (in_backlog(op)) {
        backlog_.erase(op);
    }
    op.in_kernel_ = op.cancel_sent_ = false;
    uring_position::forget(op.request_);
    fd_slot* const slot = op.request_.slot;
    if (has_result(op)) {
        make_runnable(op);
    } else {
        conclude(op, result_of(op.wanted_end_));
    }
    if (slot != nullptr) {
        let_go(*slot);
    }
}

/// Closes the ring, for wait() to make another. Results that have come are delivered.
void uring_engine::give_up_kernel() noexcept {
    if (!ring_.is_open()) {
        end_pending();
        return;
    }
    cancel_in_kernel();
    bool woken = false;
    do {
        orphans_.bury(ring_, buffers_, *pool_);
        static_cast<void>(reap(woken));
    } while (ring_.has_completion() && !results_.grow(ring_.completion_entries()));
    close_ring();
    end_pending();
    if (woken) {
        wake();
    }
}

/// Cancels everything, so that the kernel writes into no memory after the ring is closed. Closing
/// it ends everything by itself, but later.
void uring_engine::cancel_in_kernel() noexcept {
    const time_point give_up = saturating_add(clock::now(), patience_of_cancel);
    bool works = true;
    for_each_operation([&](io_operation& op) {
        if (op.wanted_end_ == end_reason::none) {
            op.wanted_end_ = end_reason::canceled;
        }
        if (works && op.in_kernel_ && !ring_.unsubmit(op)) {
            works = !ring_.cancel(op, give_up - clock::now());
        }
    });
}

/// Ends all operations that have no result yet. Precondition: there is no ring.
void uring_engine::end_pending() noexcept {
    for_each_operation([this](io_operation& op) { cancel(op, end_reason::canceled); });
    for_each_operation([this](io_operation& op) {
        if (op.in_kernel_) {
            leaves_kernel(op);
        }
    });
}

call_failure uring_engine::rebuild_after_fork() noexcept {
    // Results that have come are the parent's to deliver.
    for_each_operation([this](io_operation& op) { drop_results(op); });
    ready_.for_each([this](operation& node) {
        if (node.kind() == node_kind::io) {
            drop_results(static_cast<io_operation&>(node));
        }
    });
    // The mapping is shared with the parent: whatever this process wrote there would be the
    // parent's submission. So this ring is dropped, and another is made.
    close_ring();
    end_pending();
    wake_.reset();
    told_.reset();  // the parent's too
    return open(entries_);
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
