#include "engine/engine.hpp"

#if EDDY_HAS_IO_URING

#include "engine/uring_ring.hpp"
#include "kernel/event.hpp"
#include "kernel/io.hpp"

#include <eddy/base/unique_fd.hpp>

#include <cerrno>
#include <new>
#include <vector>

namespace eddy {

namespace {

constexpr std::uint32_t no_record = UINT32_MAX;
constexpr auto ends_readiness = interest::error | interest::hangup;

/// A unix listener whose backlog is full: no event tells of the end of that.
bool waits_for_time(const io_request& request) noexcept {
    return request.code == opcode::connect && request.slot->kind != descriptor_kind::tcp;
}

/// Transfers at a position that each of them moves, and accepts.
bool keeps_order(const io_request& request) noexcept {
    switch (request.code) {
        case opcode::read:
        case opcode::write:
        case opcode::readv:
        case opcode::writev:
            return request.offset < 0;
        case opcode::recv:
        case opcode::send:
        case opcode::recvmsg:
        case opcode::sendmsg:
        case opcode::accept:
            return true;
        default:
            return false;
    }
}

/// What a poll request reported, of what was asked for. Urgent data is reported with any data, so
/// that has to be looked at.
io_result really_ready(const io_request& request, io_result result) noexcept {
    const auto asked = static_cast<interest>(request.flags);
    auto ready = static_cast<interest>(result.raw()) & (asked | ends_readiness);
    if (any(ready & interest::priority) && !request.multishot) {
        const io_result now = kernel::ready_now(request.slot->fd, asked);
        ready = static_cast<interest>(now.raw());
        if (!now || any(ready & interest::invalid)) {
            return io_result::system_error(EBADF);
        }
    }
    return io_result::value(static_cast<std::int64_t>(ready));
}

}  // namespace

/// Performs operations by handing them to the kernel.
///
/// start() and cancel() only fill the submission queue; what does not fit waits in `backlog_`. One
/// io_uring_enter a turn submits all and waits.
class uring_engine final : public engine {
public:
    explicit uring_engine(ready_queue& ready) noexcept : engine(ready) {}

    std::error_code open(unsigned entries) noexcept;

    engine_kind kind() const noexcept override { return engine_kind::io_uring; }
    progress start(io_operation& op, bool may_try) noexcept override;
    progress finish(io_operation& op) noexcept override;
    void cancel(io_operation& op, end_reason reason) noexcept override;
    std::error_code claim() noexcept override;
    void disown() noexcept override;
    std::error_code flush() noexcept override;
    std::error_code wait(time_point until, bool& woken) noexcept override;
    void wake() noexcept override { kernel::signal_eventfd(wake_.get()); }
    int native_handle() const noexcept override { return -1; }
    std::error_code rebuild_after_fork() noexcept override;

protected:
    std::error_code enroll(fd_slot&) noexcept override { return {}; }
    void expel(fd_slot&) noexcept override {}
    std::error_code quiesce(io_operation& op) noexcept override;
    std::error_code quiesce(fd_slot& slot) noexcept override;
    void drop_results(io_operation& op) noexcept override;
    void activate(fd_slot& slot, io_list& list) noexcept override;
    bool wants_nonblocking() const noexcept override { return false; }

private:
    /// A result of a multishot operation that was not delivered yet.
    struct record {
        std::int32_t result;
        std::uint32_t next;
    };

    template <class Condition>
    std::error_code wait_while(Condition&& condition) noexcept;
    std::error_code add_records(std::size_t count) noexcept;
    void submit(io_operation& op) noexcept;
    bool may_submit(io_operation& op) noexcept;
    void conclude(io_operation& op, io_result result) noexcept;
    bool fill(io_operation& op) noexcept;
    bool fill_cancel(io_operation& op) noexcept;
    void drain_backlog() noexcept;
    void arm_wake() noexcept;
    void reap(bool& woken) noexcept;
    void cancel_again(fd_slot& slot) noexcept;
    void on_completion(io_operation& op, std::int32_t result, bool more) noexcept;
    void on_single(io_operation& op, io_result result) noexcept;
    void on_multishot(io_operation& op, std::int32_t result) noexcept;
    void keep_record(io_operation& op, std::int32_t result) noexcept;
    std::int32_t take_record(io_operation& op) noexcept;
    progress finish_accept(io_operation& op, io_result result) noexcept;
    progress finish_wait(io_operation& op, io_result result) noexcept;
    progress go_on(io_operation& op) noexcept;
    io_result ended(const io_operation& op, io_result result) const noexcept;
    static bool has_record(const io_operation& op) noexcept {
        return op.first_record_ != no_record;
    }

    uring_ring ring_;
    unsigned entries_ = 0;
    unique_fd wake_;
    bool wake_armed_ = false;
    operation_list backlog_;  ///< to be submitted, or cancelled, when there is room
    std::vector<record> records_;
    std::uint32_t free_record_ = no_record;
    std::uint32_t free_records_ = 0;
};

std::error_code uring_engine::open(unsigned entries) noexcept {
    entries_ = entries;
    // Made once: other threads may be writing it while a ring replaces another.
    if (!wake_) {
        if (auto error = kernel::make_eventfd(wake_)) {
            return error;
        }
    }
    if (auto error = ring_.open(entries)) {
        return error;
    }
    records_.clear();
    free_record_ = no_record;
    free_records_ = 0;
    wake_armed_ = false;
    return add_records(ring_.completion_entries());
}

std::error_code uring_engine::add_records(std::size_t count) noexcept try {
    const std::size_t before = records_.size();
    records_.resize(before + count);
    for (std::size_t i = before; i != records_.size(); ++i) {
        records_[i].next = free_record_;
        free_record_ = static_cast<std::uint32_t>(i);
        ++free_records_;
    }
    return {};
} catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
}

std::error_code uring_engine::claim() noexcept {
    disown();
    if (ring_.belongs_to_another_thread()) {
        return std::make_error_code(std::errc::operation_not_permitted);
    }
    if (!ring_.is_open()) {
        if (auto error = open(entries_)) {
            return error;
        }
    }
    return ring_.enable();
}

/// A ring serves the thread that enabled it. Without operations nobody can tell two rings apart, so
/// that it can be dropped, for claim() to make another.
void uring_engine::disown() noexcept {
    if (!ring_.belongs_to_another_thread()) {
        return;
    }
    bool busy = !backlog_.empty() || free_records_ != records_.size();
    for_each_operation([&](io_operation&) { busy = true; });
    if (!busy) {
        ring_.close();
    }
}

progress uring_engine::start(io_operation& op, bool) noexcept {
    const io_request& request = op.request_;
    if (settled(op, op.result_)) {
        return progress::finished;
    }
    op.first_record_ = op.last_record_ = no_record;
    op.in_progress_ = op.cancel_sent_ = op.ending_ = false;
    link(op);
    const bool pauses = request.code == opcode::accept && request.slot->backing_off;
    if (!pauses && may_submit(op)) {
        submit(op);
    }
    return progress::pending;
}

/// The kernel would perform what it has of one descriptor in any order.
bool uring_engine::may_submit(io_operation& op) noexcept {
    if (!keeps_order(op.request_)) {
        return true;
    }
    io_list& list = list_of(op);
    const io_operation* first = list.front();
    while (first != nullptr && !keeps_order(first->request_)) {
        first = io_list::next(*first, list);
    }
    return first == &op;
}

/// Precondition: `op` is in its list.
void uring_engine::submit(io_operation& op) noexcept {
    op.phase_ = phase::waiting;
    op.in_kernel_ = true;
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
    if (op.in_progress_) {
        uring_ring::prepare_poll(*sqe, op.request_);
    } else {
        ring_.prepare(*sqe, op.request_);
    }
    sqe->user_data = uring_ring::token(op);
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
    if (op.phase_ == phase::completed || op.phase_ == phase::idle) {
        return;
    }
    if (op.wanted_end_ == end_reason::none) {
        op.wanted_end_ = reason;
    }
    if (!op.in_kernel_) {
        // Backing off, or between two submissions of a multishot operation.
        if (ready_queue::contains(op)) {
            return;  // finish() sees what is wanted
        }
        conclude(op, result_of(op.wanted_end_));
        return;
    }
    if (op.cancel_sent_) {
        return;
    }
    if (op.phase_ == phase::waiting && ready_queue::contains(op)) {
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
            submit(*op);
        }
    }
}

void uring_engine::conclude(io_operation& op, io_result result) noexcept {
    io_list& list = list_of(op);
    complete(op, result);
    if (op.request_.slot != nullptr) {
        activate(*op.request_.slot, list);
    }
}

void uring_engine::arm_wake() noexcept {
    if (io_uring_sqe* const sqe = ring_.next_sqe(); sqe != nullptr) {
        uring_ring::prepare_wake(*sqe, wake_.get());
        wake_armed_ = true;
    }
}

std::error_code uring_engine::flush() noexcept {
    drain_backlog();
    return ring_.enter(0, time_point::min());
}

std::error_code uring_engine::wait(time_point until, bool& woken) noexcept {
    if (!wake_armed_) {
        arm_wake();
    }
    drain_backlog();
    const bool may_block =
        until != time_point::min() && backlog_.empty() && !ring_.has_completion();
    if (auto error = ring_.enter(may_block ? 1 : 0, until)) {
        return error;
    }
    reap(woken);
    return {};
}

std::error_code uring_engine::quiesce(io_operation& op) noexcept {
    return wait_while([&] { return op.in_kernel_; });
}

std::error_code uring_engine::quiesce(fd_slot& slot) noexcept {
    return wait_while([&] { return slot.holds != 0; });
}

template <class Condition>
std::error_code uring_engine::wait_while(Condition&& condition) noexcept {
    bool woken = false;
    while (condition()) {
        drain_backlog();
        if (auto error = ring_.enter(1, never)) {
            return error;
        }
        reap(woken);
    }
    if (woken) {
        wake();  // it was not for us
    }
    return {};
}

void uring_engine::reap(bool& woken) noexcept {
    // Every completion may need a record; without one it stays in the queue, or in the kernel.
    while (free_records_ != 0) {
        const io_uring_cqe* const cqe = ring_.front();
        if (cqe == nullptr) {
            return;
        }
        const std::uint64_t token = cqe->user_data;
        const std::int32_t result = cqe->res;
        const bool more = (cqe->flags & IORING_CQE_F_MORE) != 0;
        ring_.pop();
        if (io_operation* const op = uring_ring::operation_of(token); op != nullptr) {
            on_completion(*op, result, more);
        } else if (fd_slot* const slot = uring_ring::cancelled_on(token); slot != nullptr) {
            if (result == -ENOENT) {
                cancel_again(*slot);
            }
        } else if (uring_ring::is_wake(token)) {
            woken = true;
            wake_armed_ = more;
        }
    }
}

/// The kernel did not find what it was to cancel. Most often that has completed; but one that is
/// on its way between two of the kernel's queues is not found either, and would wait on.
void uring_engine::cancel_again(fd_slot& slot) noexcept {
    for (const io_list* list : {&slot.readers, &slot.writers, &slot.waiters}) {
        for (io_operation* op = list->front(); op != nullptr; op = io_list::next(*op, *list)) {
            if (op->in_kernel_ && op->cancel_sent_ && !ready_queue::contains(*op)) {
                op->cancel_sent_ = false;
                cancel(*op, op->wanted_end_);
            }
        }
    }
}

void uring_engine::on_completion(io_operation& op, std::int32_t result, bool more) noexcept {
    fd_slot* const slot = op.request_.slot;
    if (more) {
        keep_record(op, result);
        return;
    }
    op.in_kernel_ = false;
    if (op.cancel_sent_ && op.phase_ == phase::waiting && ready_queue::contains(op)) {
        backlog_.erase(op);  // it has ended before its cancellation could be submitted
    }
    op.cancel_sent_ = false;
    if (op.request_.multishot) {
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
    const bool undone = error == ECANCELED || error == EINTR || error == EAGAIN;
    return undone && op.wanted_end_ != end_reason::none ? result_of(op.wanted_end_) : result;
}

void uring_engine::on_single(io_operation& op, io_result result) noexcept {
    const bool wanted = op.wanted_end_ == end_reason::none;
    if (op.request_.code == opcode::wait && result) {
        result = really_ready(op.request_, result);
        if (wanted && result == io_result::value(0)) {
            submit(op);
            return;
        }
    }
    if (op.in_progress_) {
        // It was a poll on behalf of an fd that says EAGAIN instead of waiting: nothing was done.
        op.in_progress_ = false;
        if (wanted && result) {
            submit(op);
            return;
        }
        if (result) {
            result = io_result::system_error(ECANCELED);
        }
    } else if (wanted && result.would_block() && waits_for_time(op.request_)) {
        back_off(*op.request_.slot);
        op.phase_ = phase::waiting;
        return;
    } else if (wanted && result.would_block() && op.request_.slot != nullptr &&
               op.request_.code != opcode::wait) {
        op.in_progress_ = true;
        submit(op);
        return;
    } else if (wanted && result.system_error() == EINTR) {
        submit(op);
        return;
    }
    if (wanted && advance(op, result)) {
        submit(op);
        return;
    }
    if (op.request_.code == opcode::accept && !result) {
        const accept_failure failure = classify_accept(result);
        if (wanted && failure == accept_failure::transient) {
            submit(op);
            return;
        }
        if (failure == accept_failure::exhausted) {
            back_off(*op.request_.slot);
        }
    }
    conclude(op, ended(op, result));
}

void uring_engine::on_multishot(io_operation& op, std::int32_t result) noexcept {
    io_list& list = list_of(op);
    unlink(op);
    keep_record(op, result);
    activate(*op.request_.slot, list);
}

void uring_engine::keep_record(io_operation& op, std::int32_t result) noexcept {
    const std::uint32_t index = free_record_;
    free_record_ = records_[index].next;
    --free_records_;
    records_[index] = {result, no_record};
    if (has_record(op)) {
        records_[op.last_record_].next = index;
    } else {
        op.first_record_ = index;
    }
    op.last_record_ = index;
    if (op.cancel_sent_ && op.phase_ == phase::waiting && ready_queue::contains(op)) {
        backlog_.erase(op);  // the cancellation waits in the backlog: results come first
        op.cancel_sent_ = false;
    }
    make_runnable(op);
}

std::int32_t uring_engine::take_record(io_operation& op) noexcept {
    const std::uint32_t index = op.first_record_;
    const record taken = records_[index];
    op.first_record_ = taken.next;
    records_[index].next = free_record_;
    free_record_ = index;
    ++free_records_;
    return taken.result;
}

progress uring_engine::finish(io_operation& op) noexcept {
    if (!has_record(op)) {
        op.result_ = result_of(op.wanted_end_);
        return progress::finished;
    }
    const io_result result = io_result::from_kernel(take_record(op));
    if (op.request_.code == opcode::accept) {
        return finish_accept(op, result);
    }
    return finish_wait(op, result ? really_ready(op.request_, result) : result);
}

/// A result was taken that is not the last. What comes next: another one that is there already, the
/// kernel, which goes on, or a new submission.
progress uring_engine::go_on(io_operation& op) noexcept {
    op.phase_ = phase::waiting;
    if (has_record(op) || (!op.in_kernel_ && op.wanted_end_ != end_reason::none)) {
        make_runnable(op);
    } else if (!op.in_kernel_) {
        if (!valid(op)) {
            op.wanted_end_ = end_reason::canceled;
            make_runnable(op);
        } else {
            link(op);
            activate(*op.request_.slot, list_of(op));
        }
    } else if (op.wanted_end_ != end_reason::none && !op.cancel_sent_) {
        cancel(op, op.wanted_end_);
    }
    return progress::more;
}

progress uring_engine::finish_accept(io_operation& op, io_result result) noexcept {
    op.result_ = result;
    if (result) {
        return go_on(op);
    }
    if (op.wanted_end_ != end_reason::none) {
        op.result_ = ended(op, result);
        return progress::finished;
    }
    if (result.system_error() == EINVAL && ring_.multishot_accept()) {
        ring_.disable_multishot_accept();  // a kernel before 5.19, or no listener: try one by one
        static_cast<void>(go_on(op));
        return progress::pending;
    }
    switch (classify_accept(result)) {
        case accept_failure::transient:
            static_cast<void>(go_on(op));
            return progress::pending;
        case accept_failure::exhausted:
            back_off(*op.request_.slot);
            return go_on(op);
        case accept_failure::lasting:
            break;
    }
    return progress::finished;
}

progress uring_engine::finish_wait(io_operation& op, io_result result) noexcept {
    const bool last = !result || any(static_cast<interest>(result.raw()) & ends_readiness);
    if (!last && !op.ending_) {
        op.result_ = result;
        return go_on(op);
    }
    if (!op.ending_) {
        op.result_ = ended(op, result);
        op.ending_ = true;
    }
    while (has_record(op)) {
        static_cast<void>(take_record(op));  // behind a hang-up they say nothing new
    }
    if (!op.in_kernel_) {
        return progress::finished;
    }
    // The kernel goes on polling: the last result is delivered when it has stopped.
    op.phase_ = phase::waiting;
    cancel(op, end_reason::canceled);
    return progress::pending;
}

std::error_code uring_engine::rebuild_after_fork() noexcept {
    // The mapping is shared with the parent: whatever this process wrote there would be the
    // parent's submission. Drop it and make another.
    for_each_operation([this](io_operation& op) {
        if (op.phase_ != phase::waiting && op.phase_ != phase::runnable) {
            return;
        }
        if (op.phase_ == phase::waiting && ready_queue::contains(op)) {
            backlog_.erase(op);
        }
        if (op.in_kernel_ && op.request_.slot != nullptr) {
            --op.request_.slot->holds;
        }
        op.in_kernel_ = op.cancel_sent_ = false;
        drop_results(op);
        complete(op, result_of(end_reason::canceled));
    });
    ready_.for_each([this](operation& node) {
        if (node.kind() == node_kind::io) {
            drop_results(static_cast<io_operation&>(node));
        }
    });
    ring_.close();
    wake_.reset();
    return open(entries_);
}

void uring_engine::drop_results(io_operation& op) noexcept {
    while (op.request_.multishot && has_record(op)) {
        drop_result(op.request_.code, io_result::from_kernel(take_record(op)));
    }
}

std::error_code make_uring_engine(ready_queue& ready, unsigned entries,
                                  std::unique_ptr<engine>& out) noexcept {
    std::unique_ptr<uring_engine> made(new (std::nothrow) uring_engine(ready));
    if (made == nullptr) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    const auto error = made->open(entries);
    if (!error) {
        out = std::move(made);
    }
    return error;
}

}  // namespace eddy

#else

namespace eddy {

std::error_code make_uring_engine(ready_queue&, unsigned, std::unique_ptr<engine>&) noexcept {
    return errc::engine_not_built;
}

}  // namespace eddy

#endif
