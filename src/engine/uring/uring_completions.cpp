// SPDX-License-Identifier: Apache-2.0

// Turns the kernel's completions into results of operations, or submits the operations again.
#if EDDY_HAS_IO_URING

#include "engine/uring/uring_engine.hpp"
#include "engine/uring/uring_position.hpp"
#include "kernel/descriptor.hpp"
#include "kernel/io.hpp"
#include "kernel/own_fd.hpp"

#include <cerrno>
#include <utility>

namespace eddy {

namespace {

/// True if a recv, send or receive is over with some bytes, so that nothing more has to be asked.
bool is_over(const io_request& request, io_result result) noexcept {
    using enum opcode;
    return result.raw() > 0 && detail::has(detail::codes(recv, send, receive), request.code) &&
           (!request.all || result.count() == request.size);
}

/// True for a connect to a unix listener whose backlog is full: no event reports room in it.
bool waits_for_time(const io_request& request) noexcept {
    return request.code == opcode::connect && request.slot->kind != descriptor_kind::tcp;
}

}  // namespace

/// Reduces the report of a poll request to what the wait asked for. The kernel reports urgent data
/// with any data, so the fd is looked at again for it. A multishot wait keeps the rest of its
/// report, which nothing would repeat.
io_result uring_engine::really_ready(const io_operation& op, io_result result) noexcept {
    const io_request& request = op.request_;
    const auto asked = static_cast<interest>(request.flags);
    auto ready = static_cast<interest>(result.raw()) & (asked | ends_readiness);
    if (!any(ready & interest::priority)) {
        return io_result::value(static_cast<std::int64_t>(ready));
    }
    const interest told = request.multishot ? ready & ~interest::priority : interest::none;
    if (request.multishot && !valid(op)) {
        return io_result::value(static_cast<std::int64_t>(told));  // the fd may be another by now
    }
    const interest looked_for = request.multishot ? interest::priority : asked;
    const io_result now = kernel::ready_now(request.slot->fd, looked_for);
    ready = static_cast<interest>(now.raw());
    if (!now || any(ready & interest::invalid)) {
        return io_result::system_error(EBADF);
    }
    return io_result::value(static_cast<std::int64_t>(ready | told));
}

/// Cancels again what the kernel did not find. Most often the operation has completed. But an
/// operation on its way between two of the kernel's queues is not found either, and would wait on.
void uring_engine::cancel_again(fd_slot& slot) noexcept {
    for (const io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        for (io_operation* op = list->front(); op != nullptr; op = io_list::next(*op, *list)) {
            if (op->in_kernel_ && op->cancel_sent_ && !in_backlog(*op)) {
                op->cancel_sent_ = false;
                if (!ready_queue::contains(*op)) {
                    ask_to_end(*op);
                }  // else it has results to deliver first; go_on() asks
            }
        }
    }
}

/// Counts a result of a multishot receive that goes on. The kernel counts results after which it
/// saw more data or could not tell. On TCP it can tell: if it never saw more, it has counted none.
inline void uring_engine::wear(io_operation& op, std::uint32_t flags) noexcept {
    if ((flags & IORING_CQE_F_SOCK_NONEMPTY) != 0) {
        op.in_a_row_ |= row_counts;
    }
    if (!is_worn(op) && (++op.in_a_row_ & row_length) == longest_row) [[unlikely]] {
        if ((op.in_a_row_ & row_counts) == 0 && kernel::tells_of_rest(op.request_.slot->fd)) {
            op.in_a_row_ = 0;
        }
    }
}

/// Moves an operation out of the kernel and its list, with its result, into the ready queue.
inline void uring_engine::is_done(io_operation& op, io_list& list, std::int32_t result) noexcept {
    fd_slot& slot = *op.request_.slot;
    op.in_kernel_ = false;
    list.erase(op);
    op.result_ = io_result::value(result);
    op.phase_ = phase::completed;
    ready_.push(op);
    if (!list.empty()) {
        activate(slot, list);
    }
    let_go(slot);
}

/// Takes a completion. Most are results of a multishot receive that goes on, or of a send or
/// receive that is over: these are handled here, and all by on_other_completion().
[[gnu::always_inline]] inline void uring_engine::on_completion(io_operation& op,
                                                               std::int32_t result,
                                                               std::uint32_t flags) noexcept {
    constexpr std::uint32_t more_data = IORING_CQE_F_MORE | IORING_CQE_F_BUFFER;
    const io_request& request = op.request_;
    if (result <= 0 || op.cancel_sent_ || op.in_progress_) {
        on_other_completion(op, result, flags);
    } else if ((flags & more_data) == more_data) {
        wear(op, flags);
        detail::lease_buffer& buffer = buffers_.take(*pool_, flags);
        if (ready_queue::contains(op) || is_telling(op)) {
            results_.append(op.request_.records, record_of(buffer, result));
        } else {
            buffer.size = static_cast<std::uint32_t>(result);
            op.request_.data = &buffer;
        }
        make_runnable(op);
    } else if (request.code == opcode::send && op.moved_ == 0 &&
               is_over(request, io_result::value(result))) {
        is_done(op, request.slot->writers, result);
    } else if (request.code == opcode::receive && !request.multishot &&
               (flags & more_data) == IORING_CQE_F_BUFFER) {
        detail::lease_buffer& buffer = buffers_.take(*pool_, flags);
        static_cast<void>(keep_buffer(op, buffer, io_result::value(result)));
        is_done(op, request.slot->readers, result);
    } else {
        on_other_completion(op, result, flags);
    }
}

/// Takes the completions, and returns how many there were.
unsigned uring_engine::reap(bool& woken) noexcept {
    // Each completion may need a record; without one it stays in the queue, or in the kernel.
    const auto may_take = [this] { return !results_.full(); };
    return ring_.take_completions(may_take, [&](const io_uring_cqe& cqe) {
        const std::uint64_t token = cqe.user_data;
        if (io_operation* const op = uring_ring::operation_of(token); op != nullptr) [[likely]] {
            on_completion(*op, cqe.res, cqe.flags);
        } else if (fd_slot* const slot = uring_ring::cancelled_on(token); slot != nullptr) {
            if (cqe.res == -ENOENT) {
                cancel_again(*slot);
            }
        } else if (uring_ring::is_wake(token)) {
            woken = true;
            wake_armed_ = (cqe.flags & IORING_CQE_F_MORE) != 0;
            prepared_ = prepared_ && wake_armed_;
            if (cqe.res < 0 && cqe.res != -ECANCELED) {  // ECANCELED: its thread has ended
                wake_error_ = -cqe.res;
            }
        }
    });
}

void uring_engine::on_other_completion(io_operation& op, std::int32_t result,
                                       std::uint32_t flags) noexcept {
    fd_slot* const slot = op.request_.slot;
    const bool more = (flags & IORING_CQE_F_MORE) != 0;
    const bool behind_others = has_result(op);
    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        detail::lease_buffer& buffer = buffers_.take(*pool_, flags);
        if (more || behind_others) {
            wear(op, flags);
            result = record_of(buffer, result);
        } else {
            static_cast<void>(keep_buffer(op, buffer, io_result::from_kernel(result)));
        }
    }
    if (more) {
        keep_record(op, result);
        return;
    }
    op.in_kernel_ = false;
    if (op.cancel_sent_ && in_backlog(op)) {
        backlog_.erase(op);  // it ended before its cancellation was submitted
    }
    op.cancel_sent_ = false;
    // The last result of a multishot receive, with none before it, is like that of any receive.
    if (op.request_.multishot && (op.request_.code != opcode::receive || behind_others)) {
        on_multishot(op, result);
    } else {
        on_single(op, io_result::from_kernel(result));
    }
    if (slot != nullptr) {
        let_go(*slot);
    }
}

io_result uring_engine::ended(const io_operation& op, io_result result) const noexcept {
    const int error = result.system_error();
    const bool undone =
        error == ECANCELED || error == EINTR || error == EAGAIN || lacked_buffer(op, result);
    return undone && op.wanted_end_ != end_reason::none ? result_of(op.wanted_end_) : result;
}

void uring_engine::on_single(io_operation& op, io_result result) noexcept {
    if (!op.in_progress_ && is_over(op.request_, result)) [[likely]] {
        conclude(op, result);
        return;
    }
    if (!op.request_.multishot && op.request_.offset < -1) {
        uring_position::correct(op.request_, result);
    }
    bool was_poll = op.in_progress_;
    op.in_progress_ = false;
    const bool ends = op.wanted_end_ != end_reason::none;
    if (was_poll && result && !ends && is_made_here(op)) {
        if (lacks_buffer(op)) {
            starve(op);
            return;
        }
        result = op.request_.code == opcode::receive ? receive(op) : perform(op.request_);
        was_poll = false;
    }
    if (op.request_.code == opcode::wait && result) {
        result = really_ready(op, result);
    }
    if (!ends && goes_on(op, result, was_poll)) {
        return;
    }
    if (was_poll && result) {
        result = io_result::system_error(ECANCELED);  // nothing has been done yet
    }
    if (makes_fd(op.request_.code)) {
        result = kernel::keep_off_standard(result);
        if (op.request_.code == opcode::accept && !ends && accepts_on(op, result)) {
            return;
        }
    }
    conclude(op, ended(op, result));
}

/// True if the accept goes on by itself: the kernel has it again, or will get it after a pause.
bool uring_engine::accepts_on(io_operation& op, io_result result) noexcept {
    const accept_failure failure = classify_accept(result);
    const bool told = tells_every_error(op.request_);
    if (failure == accept_failure::transient && !told && skips(op)) {
        submit(op);
        return true;
    }
    if (!note_accept(op.request_, failure, result) || told) {
        return false;
    }
    op.phase_ = phase::waiting;
    return true;
}

/// True if the kernel refuses the limit of a multishot receive (before 6.17). Data is then received
/// by one submission at a time.
bool uring_engine::cannot_limit(const io_operation& op, io_result result) noexcept {
    const bool refused = result.system_error() == EINVAL && op.request_.code == opcode::receive &&
                         ring_.receives_on(op.request_);
    if (refused) {
        ring_.disable_multishot_receive();
    }
    return refused;
}

/// True if the operation needs the kernel once more; then it is on its way. `was_poll`: the kernel
/// was asked to poll, for an fd that says EAGAIN instead of waiting.
bool uring_engine::goes_on(io_operation& op, io_result result, bool was_poll) noexcept {
    const io_request& request = op.request_;
    bool again = false;
    if (was_poll) {
        again = result.ok();
    } else if (request.code == opcode::wait) {
        again = result == io_result::value(0);
    } else if (result.would_block() && request.slot != nullptr) {
        if (waits_for_time(request)) {
            back_off(*request.slot);
            op.phase_ = phase::waiting;
            return true;
        }
        op.in_progress_ = true;
        again = true;
    } else if (lacked_buffer(op, result)) {
        return await_buffer(op);
    } else if (!result) {
        again = result.system_error() == EINTR ||
                (result.system_error() == ECANCELED && is_worn(op)) || cannot_limit(op, result);
    } else {
        again = advance(op, result);
        op.in_progress_ = again && request.code == opcode::send_file;
    }
    if (again) {
        submit(op);
    }
    return again;
}

}  // namespace eddy

#endif
