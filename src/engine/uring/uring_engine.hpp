// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include "engine/engine.hpp"
#include "engine/uring/result_pool.hpp"
#include "engine/uring/uring_buffers.hpp"
#include "engine/uring/uring_orphans.hpp"
#include "engine/uring/uring_ring.hpp"
#include "kernel/event.hpp"

#include <eddy/base/unique_fd.hpp>

#include <atomic>

namespace eddy {

/// Performs operations by handing them to the kernel.
///
/// start() and cancel() only fill the submission queue; operations that do not fit wait in
/// `backlog_`. One io_uring_enter per turn submits all of them and waits.
class uring_engine final : public engine {
public:
    explicit uring_engine(ready_queue& ready) noexcept : engine(ready) {}

    call_failure open(unsigned entries) noexcept;

    engine_kind kind() const noexcept override { return engine_kind::io_uring; }
    progress start(io_operation& op, bool may_try) noexcept override;
    progress finish(io_operation& op) noexcept override;
    void cancel(io_operation& op, end_reason reason) noexcept override;
    bool claim() noexcept override;
    void run_ends() noexcept override { ring_.run_ends(); }
    void disown() noexcept override;
    io_result wait(time_point until, bool& woken) noexcept override;
    const char* wait_call() const noexcept override { return failed_call_; }
    void give_up_kernel() noexcept override;
    void wake() noexcept override {
        kernel::signal_eventfd(wake_fd_.load(std::memory_order_relaxed));
    }
    call_failure native_handle(int& out) noexcept override;
    bool settle() noexcept override;
    void call_attention() noexcept override { kernel::signal_eventfd(told_.get()); }
    call_failure rebuild_after_fork() noexcept override;

protected:
    std::error_code enroll(fd_slot&) noexcept override { return {}; }
    void expel(fd_slot&) noexcept override {}
    std::error_code quiesce(io_operation& op) noexcept override;
    std::error_code quiesce(fd_slot& slot) noexcept override;
    void drop_results(io_operation& op) noexcept override;
    void activate(fd_slot& slot, io_list& list) noexcept override;
    bool wants_nonblocking() const noexcept override { return false; }
    void resume(io_operation& op) noexcept override;

private:
    EDDY_COLD call_failure prepare_wait(bool& woken) noexcept;
    EDDY_COLD io_result cannot_enter(std::error_code error, bool& woken) noexcept;
    EDDY_COLD io_result cannot_be_woken() noexcept;
    EDDY_COLD io_result failed(const call_failure& failure) noexcept;
    template <class Condition, class MakeOrphans>
    void wait_while(Condition&& condition, MakeOrphans&& make_orphans) noexcept;
    call_failure enter_and_reap(unsigned wait_for, bool& woken) noexcept;
    EDDY_COLD void orphan(io_operation& op) noexcept;
    EDDY_COLD void leaves_kernel(io_operation& op) noexcept;
    void cancel_in_kernel() noexcept;
    void end_pending() noexcept;
    progress start_other(io_operation& op) noexcept;
    bool send_now(io_operation& op) noexcept;
    io_uring_sqe* hand_over(io_operation& op, io_list& list) noexcept;
    static bool is_ready_already(io_operation& op) noexcept;
    static std::error_code prepare_send_file(io_operation& op) noexcept;
    void begin(io_operation& op) noexcept;
    void submit(io_operation& op) noexcept;
    bool may_submit(io_operation& op) noexcept;
    void ask_to_end(io_operation& op) noexcept;
    void conclude(io_operation& op, io_result result) noexcept;
    bool fill(io_operation& op) noexcept;
    bool fill_cancel(io_operation& op) noexcept;
    void drain_backlog() noexcept;
    void arm_wake() noexcept;
    unsigned reap(bool& woken) noexcept;
    void cancel_again(fd_slot& slot) noexcept;
    void on_completion(io_operation& op, std::int32_t result, std::uint32_t flags) noexcept;
    void on_other_completion(io_operation& op, std::int32_t result, std::uint32_t flags) noexcept;
    void is_done(io_operation& op, io_list& list, std::int32_t result) noexcept;
    bool kernel_picks_buffers() noexcept;
    bool feed_receives() noexcept;
    bool lacked_buffer(const io_operation& op, io_result result) const noexcept;
    static bool is_netlink(const io_operation& op) noexcept;
    bool await_buffer(io_operation& op) noexcept;
    bool is_made_here(const io_operation& op) const noexcept;
    void close_ring() noexcept;
    void on_single(io_operation& op, io_result result) noexcept;
    /// True if the next connection is tried at once, because only a few in a row were already gone.
    static bool skips(io_operation& op) noexcept { return ++op.gone_ % accept_tries != 0; }
    bool accepts_on(io_operation& op, io_result result) noexcept;
    bool cannot_limit(const io_operation& op, io_result result) noexcept;
    bool goes_on(io_operation& op, io_result result, bool was_poll) noexcept;
    void on_multishot(io_operation& op, std::int32_t result) noexcept;
    void keep_record(io_operation& op, std::int32_t result) noexcept;
    void leave_line(io_operation& op) noexcept;
    std::int32_t record_of(detail::lease_buffer& buffer, std::int32_t result) noexcept;
    io_result take_record_of_receive(io_operation& op) noexcept;
    [[gnu::noinline]] progress finish_other(io_operation& op) noexcept;
    progress finish_receive(io_operation& op) noexcept;
    progress finish_accept(io_operation& op, io_result result) noexcept;
    progress finish_wait(io_operation& op, io_result result) noexcept;
    /// Goes on after a result that is not the last one. Most often the kernel goes on by itself;
    /// else another result is there already, or a new submission is due.
    progress go_on(io_operation& op) noexcept {
        op.phase_ = phase::waiting;
        const bool quietly =
            op.in_kernel_ && !has_record(op) && op.wanted_end_ == end_reason::none && !is_worn(op);
        return quietly ? progress::more : go_on_otherwise(op);
    }
    progress go_on_otherwise(io_operation& op) noexcept;
    static io_result really_ready(const io_operation& op, io_result result) noexcept;
    io_result ended(const io_operation& op, io_result result) const noexcept;
    static bool has_record(const io_operation& op) noexcept {
        return op.request_.multishot && op.request_.records.first != result_pool::none;
    }
    /// True if a result of a multishot receive waits in the operation itself: it came when there
    /// was no other. Its buffer has its size, and later results are records.
    static bool has_kept(const io_operation& op) noexcept {
        return op.request_.code == opcode::receive && op.request_.data != nullptr &&
               op.phase_ == phase::runnable;
    }
    /// True if has_kept(), or if the completion is being called and has not taken the buffer yet.
    static bool is_telling(const io_operation& op) noexcept {
        return op.request_.multishot && op.request_.code == opcode::receive &&
               op.request_.data != nullptr;
    }
    static bool has_result(const io_operation& op) noexcept {
        return has_record(op) || is_telling(op);
    }
    /// True if the operation is in the backlog, which shares its links with the ready queue.
    static bool in_backlog(const io_operation& op) noexcept {
        return op.phase_ == phase::waiting && ready_queue::contains(op);
    }

    /// A multishot receive is submitted again after this many results. After 33 results that it
    /// counts, the kernel (Linux 6.18) may never report a reset, or the end of a unix stream.
    static constexpr std::uint8_t longest_row = 32;
    static constexpr std::uint8_t row_length = 0x7f;
    static constexpr std::uint8_t row_counts = 0x80;  ///< the kernel has counted some of them
    static bool is_worn(const io_operation& op) noexcept {
        return (op.in_a_row_ & row_length) == longest_row;
    }
    static void wear(io_operation& op, std::uint32_t flags) noexcept;

    /// The conditions that end a multishot wait.
    static constexpr auto ends_readiness = interest::error | interest::hangup;

    uring_ring ring_;
    unsigned entries_ = 0;
    unique_fd wake_;
    bool wake_armed_ = false;
    int wake_error_ = 0;     ///< of the poll of `wake_`, when it has ended
    bool prepared_ = false;  ///< for wait(), see prepare_wait()
    bool lone_ = false;      ///< the last wait brought one completion, and no send was made for it
    unique_fd told_;         ///< the native handle: the kernel writes it with every completion
    /// `wake_`, or `told_` while a host waits for that.
    std::atomic<int> wake_fd_{-1};
    operation_list backlog_;  ///< to be submitted, or cancelled, when there is room
    result_pool results_;
    uring_buffers buffers_;
    bool buffers_refused_ = false;  ///< the kernel has no such queue
    std::uint32_t dry_at_ = 0;      ///< buffers_.changes() when the kernel had none left
    uring_orphans orphans_;
    const char* failed_call_ = nullptr;  ///< the call that failed in the last wait()
};

}  // namespace eddy

#endif
