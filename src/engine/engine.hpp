// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call_failure.hpp"
#include "engine/fd_table.hpp"
#include "engine/request_facts.hpp"

#include <eddy/base/clock.hpp>
#include <eddy/base/function_ref.hpp>
#include <eddy/engine/detail/lease_buffer.hpp>
#include <eddy/engine/engine_kind.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/intrusive/operation_list.hpp>
#include <eddy/intrusive/ready_queue.hpp>

#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace eddy {

/// How far an operation has come.
enum class progress : std::uint8_t {
    pending,   ///< its result will come through the ready queue
    finished,  ///< its result is there
    more,      ///< a result is there, and more will come
    blocking,  ///< only a call that blocks can do it: perform() it where that is allowed, then
               ///< give the result to finished()
};

enum class detach_how : std::uint8_t { keep_open, close };

struct attach_options {
    descriptor_kind kind = descriptor_kind::unknown;
    const char* name = nullptr;
    bool nonblocking = false;  ///< switch the fd to non-blocking mode in any case
    /// Nothing but readiness will be waited for: its mode may be seen to when a first wait ends.
    bool only_waits = false;
};

/// Performs I/O for one loop. It takes operations and completes each exactly once.
///
/// An operation is in the list of its descriptor from start() until it has a result. Results that
/// do not come back from start() or finish() themselves come through the ready queue: the operation
/// is put there, at most once at a time, in phase `runnable` (the loop calls finish()) or
/// `completed` (its result is there).
///
/// No user code is called in here.
///
/// Thread: the loop's, except wake(): any.
class engine {
public:
    explicit engine(ready_queue& ready) noexcept : ready_(ready) {}
    virtual ~engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    virtual engine_kind kind() const noexcept = 0;
    /// The reason why it is this engine, in words.
    const std::string& choice() const noexcept { return choice_; }
    void set_choice(std::string words) noexcept { choice_ = std::move(words); }
    /// Where the buffers of receives come from. Before anything is started.
    void lend_from(buffer_pool& pool) noexcept { pool_ = &pool; }

    /// Registers `fd` anew, always: a reused number never inherits a registration. If an fd of this
    /// number was closed behind our back, its operations end with `bad_file_descriptor`.
    /// `file_exists`: this very fd is attached already.
    std::error_code attach(int fd, const attach_options& options, fd_slot*& out) noexcept;

    /// The same for what was given back just now and will only be waited for, if it is as it was.
    /// Null: it is not; attach it.
    [[nodiscard]] virtual fd_slot* attach_again(int, const char* /*name*/) noexcept {
        return nullptr;
    }

    /// Ends all operations of the slot with `operation_canceled`. When the kernel holds nothing of
    /// it any more, closes the fd if that was asked for, and completes `done` if there is one. An
    /// fd that was closed behind our back is not closed again: its operations, and `done`, end with
    /// `bad_file_descriptor`.
    void detach(fd_slot& slot, detach_how how, io_operation* done) noexcept;

    /// Ends all operations of the slot and returns when the kernel holds nothing of it. May block
    /// for as long as the kernel takes to cancel. `bad_file_descriptor`: others closed the fd.
    std::error_code release(fd_slot& slot) noexcept;
    /// The same for one to whom it makes no difference if others have closed the fd.
    void give_back(fd_slot& slot) noexcept {
        if (!part(slot)) {
            give_back_slowly(slot);
        }
    }
    /// The same if nothing is pending on it and nothing is to be done to the fd: it is `parted`
    /// now. False: nothing was done.
    [[nodiscard]] virtual bool part(fd_slot&) noexcept { return false; }

    /// Whether all that start() would do with that wait is to put it into its list: it is for
    /// something new, of which the poller tells by itself.
    bool only_joins(const io_request& request) const noexcept {
        const fd_slot* const slot = request.slot;
        const auto wanted = static_cast<interest>(request.flags);
        return request.edge && slot != nullptr && slot->generation == request.generation &&
               slot->tells_of_news() && (slot->registered & wanted) == wanted;
    }
    /// What start() does with such a one.
    void join(io_operation& op) noexcept {
        op.phase_ = phase::waiting;
        op.request_.slot->waiters.push_back(op);
    }

    /// `may_try`: the call may be made at once if it makes sense.
    virtual progress start(io_operation& op, bool may_try) noexcept = 0;

    /// The loop popped `op` in phase `runnable`: makes the call, or takes its next stored result.
    virtual progress finish(io_operation& op) noexcept = 0;

    /// The operation still completes exactly once, with its result if there is one already, else
    /// with `reason`.
    virtual void cancel(io_operation& op, end_reason reason) noexcept = 0;

    /// Takes a pending operation back: no completion comes, and the kernel holds nothing of it. A
    /// result that was there is lost, an fd in it closed. May block for as long as the kernel takes
    /// to cancel. Precondition: it is not with another thread.
    std::error_code reclaim(io_operation& op) noexcept;
    /// The same without blocking. False: the kernel holds it; it was cancelled, and completes.
    [[nodiscard]] bool withdraw(io_operation& op) noexcept;
    /// The same for a readiness wait of which nobody knows but its list, and the poller does not
    /// mind. False: it is none; nothing was done.
    [[nodiscard]] bool leave_list(io_operation& op) noexcept {
        if (!edge_ || op.phase_ != phase::waiting || op.request_.code != opcode::wait) {
            return false;
        }
        op.request_.slot->waiters.erase(op);
        op.phase_ = phase::idle;
        return true;
    }

    /// The buffer that came with the result of a receive; null: none did, or it was taken before.
    static detail::lease_buffer* take_buffer(io_operation& op) noexcept {
        if (op.request_.code != opcode::receive) {
            return nullptr;
        }
        return static_cast<detail::lease_buffer*>(std::exchange(op.request_.data, nullptr));
    }
    /// It goes back to the pool.
    void drop_buffer(io_operation& op) noexcept;

    /// Makes the call that does what is asked for, now; not for receive. Thread: any.
    static io_result perform(const io_request& request) noexcept;
    /// A `blocking` operation was performed: takes it out of its list and makes the next one of its
    /// descriptor runnable.
    void finished(io_operation& op, io_result result) noexcept;
    /// Between these two the operation is with another thread: it cannot be cancelled, and its fd
    /// is not closed.
    void send_away(io_operation& op) noexcept;
    void came_back(io_operation& op, io_result result) noexcept;

    /// From here on the engine belongs to the calling thread. False: another thread has operations
    /// pending.
    [[nodiscard]] virtual bool claim() noexcept { return true; }
    /// The thread that has claimed it stops running the loop, perhaps for good.
    virtual void run_ends() noexcept {}
    /// An operation is started while nobody runs the loop: if there are no others, the engine
    /// belongs to nobody from here on.
    virtual void disown() noexcept {}
    /// Waits until there is something to do. `time_point::min()`: only looks. Nothing else here
    /// blocks but release() and reclaim(). The result says only whether that went well. After an
    /// error it can be called again.
    virtual io_result wait(time_point until, bool& woken) noexcept = 0;
    /// The name of the system call with which the last wait() failed.
    virtual const char* wait_call() const noexcept = 0;
    /// The kernel refuses to wait: operations that it holds end with `operation_canceled`, behind
    /// the results that have come.
    virtual void give_up_kernel() noexcept {}
    /// The longest time for which release() and reclaim() try again while the kernel is short of
    /// something.
    void retry_for(duration limit) noexcept { retry_limit_ = limit; }
    virtual void wake() noexcept = 0;

    /// An fd that is readable when wait() has something to do, for others to wait for instead. From
    /// the first call on, they are told of everything only if settle() was the last call here.
    /// `not_supported`: there is none.
    virtual call_failure native_handle(int& out) noexcept = 0;
    /// Hands over what was started. False: wait() has something to do of which the kernel does not
    /// tell.
    [[nodiscard]] virtual bool settle() noexcept = 0;
    /// Makes the native handle readable until the engine is claimed and waits.
    virtual void call_attention() noexcept { wake(); }

    /// Whether the slot is one of this engine's.
    bool owns(const fd_slot& slot) noexcept { return slot.fd < 0 || table_.find(slot.fd) == &slot; }

    /// An accept ran out of descriptors or memory: call end_back_off() in a while.
    bool backing_off() const noexcept { return backing_off_; }
    void end_back_off() noexcept;

    /// In the child after fork(): closes what was inherited and starts anew. All operations end
    /// with `operation_canceled`; descriptors stay attached.
    virtual call_failure rebuild_after_fork() noexcept = 0;

    /// In the child after fork(), of a loop that is only to be destroyed: nothing is told to the
    /// kernel, which would tell it for the parent too, and nothing completes.
    void abandon(fd_slot& slot) noexcept;
    void forget(io_operation& op) noexcept;

    /// Calls `visit` for each operation without a result.
    void for_each_operation(function_ref<void(io_operation&)> visit) noexcept;
    /// Calls `visit` for each attached descriptor.
    void for_each_descriptor(function_ref<void(fd_slot&)> visit) noexcept {
        table_.for_each(visit);
    }

protected:
    using phase = io_operation::phase;

    /// Tells the poller, if there is one, of a slot that was filled in.
    virtual std::error_code enroll(fd_slot& slot) noexcept = 0;
    virtual void expel(fd_slot& slot) noexcept = 0;
    /// The same for an fd that goes back to its user, who may attach it again at once: the poller
    /// may be told later. Until then the slot says what is registered.
    virtual void expel_later(fd_slot& slot) noexcept { expel(slot); }
    /// `fresh` is to be attached where `before` was. True: the poller had not been told yet, and
    /// it is enrolled. It is the same open file, unless `before` has lost its kind.
    virtual bool readmit(fd_slot&, fd_slot&) noexcept { return false; }
    /// Returns when the kernel holds nothing of the operation, after it was cancelled.
    virtual std::error_code quiesce(io_operation&) noexcept { return {}; }
    /// Results that are stored for it elsewhere are lost.
    virtual void drop_results(io_operation&) noexcept {}
    /// Descriptors in it are closed.
    static void drop_result(const io_request& request, io_result result) noexcept;
    /// Returns when the kernel holds nothing of the slot.
    virtual std::error_code quiesce(fd_slot&) noexcept { return {}; }
    /// Whether fds are switched to non-blocking mode.
    virtual bool wants_nonblocking() const noexcept = 0;
    /// Whatever could go on with this direction of the slot goes on.
    virtual void activate(fd_slot& slot, io_list& list) noexcept = 0;

    /// A receive that starved longest goes on: there is a buffer for it, free or with the kernel.
    virtual void resume(io_operation& op) noexcept = 0;

    /// True for a receive for which there is no buffer now, but will be: those that starve already
    /// come first.
    bool lacks_buffer(const io_operation& op) noexcept {
        return op.request_.code == opcode::receive && op.request_.data == nullptr &&
               (!starving_.empty() || none_to_lend());
    }
    /// The buffer is for this receive, whoever comes before it is called. Precondition: one is
    /// free.
    void reserve_buffer(io_operation& op) noexcept;
    /// Makes the call of a receive, with a buffer, its own if it has one, that it keeps if there is
    /// data.
    io_result receive(io_operation& op) noexcept;
    io_result keep_buffer(io_operation& op, detail::lease_buffer& buffer,
                          io_result result) noexcept;
    /// The operation, which is in its list, waits for a buffer.
    void starve(io_operation& op) noexcept;
    /// If it waits for a buffer, it just waits from here on.
    void end_starving(io_operation& op) noexcept;
    /// As many receives go on as there are buffers, with those that the kernel has. True: some do.
    bool feed(std::size_t with_kernel) noexcept {
        return !starving_.empty() && feed_starving(with_kernel);
    }
    /// Before the wait: from here on a buffer that comes back ends it. False: one is back.
    [[nodiscard]] bool may_sleep() noexcept { return starving_.empty() || park_pool(); }

    static io_result result_of(end_reason reason) noexcept;
    static bool valid(const io_operation& op) noexcept;
    /// The result of an operation that is over before it begins: on a descriptor that is not
    /// attached any more, or of the wrong kind, at an offset where there are none, with nothing to
    /// move, or waiting for a file, which is always ready.
    static bool settled(const io_operation& op, io_result& result) noexcept {
        return !is_plain(op.request_) && settled_oddly(op, result);
    }
    io_list& list_of(io_operation& op) noexcept {
        fd_slot* const slot = op.request_.slot;
        if (slot == nullptr) {
            return unattached_;
        }
        if (op.request_.code == opcode::wait) {
            return slot->waiters;
        }
        return is_read(op.request_.code) ? slot->readers : slot->writers;
    }

    /// A transfer that wants all has moved a part: asks for the rest then, and says so.
    static bool advance(io_operation& op, io_result result) noexcept {
        return op.request_.all && advance_further(op, result);
    }
    /// The result of all calls together. Bytes that were moved are never lost behind an error.
    static io_result total(const io_operation& op, io_result last) noexcept {
        return op.request_.all && op.moved_ != 0 ? total_of_parts(op, last) : last;
    }

    void link(io_operation& op) noexcept {
        op.phase_ = phase::waiting;
        list_of(op).push_back(op);
    }
    void unlink(io_operation& op) noexcept { list_of(op).erase(op); }
    /// The result is there: out of the list and into the ready queue.
    void complete(io_operation& op, io_result result) noexcept;
    void make_runnable(io_operation& op) noexcept {
        if (!ready_queue::contains(op)) {
            op.phase_ = phase::runnable;
            ready_.push(op);
        }
    }
    /// Whether the number still is the fd that was attached, as far as the kernel tells.
    static bool is_ours(const fd_slot& slot) noexcept;
    /// One less holds the slot: the last one completes its detaching.
    void let_go(fd_slot& slot) noexcept {
        if (--slot.holds == 0 && slot.detaching) {
            quiet(slot);
        }
    }
    /// Precondition: nothing holds the slot and it has no operations.
    void quiet(fd_slot& slot) noexcept;
    void end_operations(fd_slot& slot, end_reason reason) noexcept;
    /// A wait has a result: from here on the fd is in non-blocking mode.
    void settle_mode(fd_slot& slot) noexcept {
        if (slot.mode_unsure) [[unlikely]] {
            look_at_mode(slot);
        }
    }
    /// Takes note of how an accept went. If it failed in a way that passes, all accepts of its
    /// listener pause, and that is the result; the first failure of a row is reported, unless the
    /// user gets it.
    bool note_accept(const io_request& request, accept_failure failure, io_result result) noexcept {
        if (failure == accept_failure::none) [[likely]] {
            request.slot->accept_fails = false;
            return false;
        }
        if (failure == accept_failure::lasting) {
            return false;
        }
        pause_accepts(request, result);
        return true;
    }
    void back_off(fd_slot& slot) noexcept {
        slot.backing_off = true;
        backing_off_ = true;
    }

    ready_queue& ready_;
    fd_table table_;
    io_list unattached_;  ///< operations without a descriptor
    bool backing_off_ = false;
    bool edge_ = false;  ///< there is a poller, which tells of edges
    buffer_pool* pool_ = nullptr;
    operation_list starving_;  ///< receives that wait for a buffer
    duration retry_limit_ = duration::zero();

private:
    std::string choice_;

    EDDY_COLD void pause_accepts(const io_request& request, io_result result) noexcept;
    bool none_to_lend() noexcept;
    bool feed_starving(std::size_t with_kernel) noexcept;
    bool park_pool() noexcept;
    static bool settled_oddly(const io_operation& op, io_result& result) noexcept;
    static bool advance_further(io_operation& op, io_result result) noexcept;
    static io_result total_of_parts(const io_operation& op, io_result last) noexcept;
    static std::error_code examine(fd_slot& fresh, const attach_options& options) noexcept;
    std::error_code make_nonblocking(fd_slot& fresh, bool asked_for) noexcept;
    EDDY_COLD void look_at_mode(fd_slot& slot) noexcept;
    void give_back_slowly(fd_slot& slot) noexcept;
    std::error_code part_from(fd_slot& slot) noexcept;
    /// The attaching ends here; what it has done is undone.
    std::error_code refuse(fd_slot& fresh, bool enrolled, std::error_code error) noexcept;
    /// The kernel does not hold the operation: out of the ready queue, with what it has of results.
    void take_out(io_operation& op) noexcept;
};

/// `kind` is epoll, io_uring or poll. An io_uring is tried first, from its making to a completion.
call_failure make_engine(engine_kind kind, ready_queue& ready,
                         std::unique_ptr<engine>& out) noexcept;
call_failure make_readiness_engine(engine_kind kind, ready_queue& ready,
                                   std::unique_ptr<engine>& out) noexcept;
/// `entries`: of the submission queue.
call_failure make_uring_engine(ready_queue& ready, unsigned entries,
                               std::unique_ptr<engine>& out) noexcept;

}  // namespace eddy
