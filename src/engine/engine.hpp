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

/// How far an operation has come, as start() and finish() return it.
enum class progress : std::uint8_t {
    pending,   ///< its result will come through the ready queue
    finished,  ///< its result is there
    more,      ///< a result is there, and more will come
    blocking,  ///< only a call that blocks can do it: call perform() where that is allowed, then
               ///< finished() with the result
};

enum class detach_how : std::uint8_t { keep_open, close };

struct attach_options {
    descriptor_kind kind = descriptor_kind::unknown;
    const char* name = nullptr;
    bool nonblocking = false;  ///< switch the fd to non-blocking mode on every engine
    /// Only readiness will be waited for: the mode may be checked when a first wait ends.
    bool only_waits = false;
};

/// Performs I/O for one loop: takes operations and completes each exactly once.
///
/// An operation is in the list of its descriptor from start() until it has a result. A result that
/// start() or finish() does not return itself comes through the ready queue: the operation is put
/// there, at most once at a time, in phase `runnable` (the loop calls finish()) or `completed` (its
/// result is there).
///
/// An engine never calls user code.
///
/// Thread: the loop's, except wake() and perform(): any.
class engine {
public:
    explicit engine(ready_queue& ready) noexcept : ready_(ready) {}
    virtual ~engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    virtual engine_kind kind() const noexcept = 0;
    /// Returns the reason for this engine, in words.
    const std::string& choice() const noexcept { return choice_; }
    void set_choice(std::string words) noexcept { choice_ = std::move(words); }
    /// Sets the pool whose buffers receives get. Precondition: nothing was started.
    void lend_from(buffer_pool& pool) noexcept { pool_ = &pool; }

    /// Attaches `fd`, always with a new registration: a reused number never inherits one. If others
    /// have closed an earlier fd of this number, its operations end with `bad_file_descriptor`.
    /// `file_exists`: this very fd is attached already.
    std::error_code attach(int fd, const attach_options& options, fd_slot*& out) noexcept;

    /// Attaches an fd that was given back just now, for readiness waits only, if it is unchanged.
    /// Null: it is not; call attach().
    [[nodiscard]] virtual fd_slot* attach_again(int, const char* /*name*/) noexcept {
        return nullptr;
    }

    /// Ends all operations of the slot with `operation_canceled`. When the kernel has let go of the
    /// slot, closes the fd if that was asked for, and completes `done` if there is one. An fd that
    /// others have closed is not closed again: its operations, and `done`, end with
    /// `bad_file_descriptor`.
    void detach(fd_slot& slot, detach_how how, io_operation* done) noexcept;

    /// Ends all operations of the slot, and returns when the kernel has let go of it. May block
    /// while the kernel cancels. `bad_file_descriptor`: others have closed the fd.
    /// `device_or_resource_busy`: another thread performs an operation of the slot.
    std::error_code release(fd_slot& slot) noexcept;
    /// Releases the slot for a user who need not know if others have closed the fd.
    void give_back(fd_slot& slot) noexcept {
        if (!part(slot)) {
            give_back_slowly(slot);
        }
    }
    /// Gives the fd back at once, if nothing is pending on it and nothing must be done to it: the
    /// slot is `parted` then. False: nothing was done.
    [[nodiscard]] virtual bool part(fd_slot&) noexcept { return false; }

    /// True if start() would only put this wait into its list: it is for something new, which the
    /// poller reports without being asked.
    bool only_joins(const io_request& request) const noexcept {
        const fd_slot* const slot = request.slot;
        const auto wanted = static_cast<interest>(request.flags);
        return request.edge && slot != nullptr && slot->generation == request.generation &&
               slot->tells_of_news() && (slot->registered & wanted) == wanted;
    }
    /// Starts a wait for which only_joins() is true.
    void join(io_operation& op) noexcept {
        op.phase_ = phase::waiting;
        op.request_.slot->waiters.push_back(op);
    }

    /// Starts an operation. `may_try`: its call may be made at once if it makes sense.
    virtual progress start(io_operation& op, bool may_try) noexcept = 0;

    /// Goes on with an operation that the loop has popped in phase `runnable`: makes the call, or
    /// takes the next stored result.
    virtual progress finish(io_operation& op) noexcept = 0;

    /// Cancels an operation, which still completes exactly once: with its result if there is one
    /// already, else with `reason`.
    virtual void cancel(io_operation& op, end_reason reason) noexcept = 0;

    /// Takes a pending operation back: it does not complete, and the kernel has let go of it. A
    /// result that was there is lost, and an fd in it is closed. May block while the kernel
    /// cancels. Precondition: the operation is not with another thread.
    std::error_code reclaim(io_operation& op) noexcept;
    /// Takes a pending operation back without blocking. False: the kernel holds it; it was
    /// cancelled, and completes.
    [[nodiscard]] bool withdraw(io_operation& op) noexcept;
    /// Takes back a readiness wait that is only in its list, and whose end the poller need not
    /// know. False: `op` is no such wait, and nothing was done.
    [[nodiscard]] bool leave_list(io_operation& op) noexcept {
        if (!edge_ || op.phase_ != phase::waiting || op.request_.code != opcode::wait) {
            return false;
        }
        op.request_.slot->waiters.erase(op);
        op.phase_ = phase::idle;
        return true;
    }

    /// Takes the buffer of a receive's result. Null: none came, or it was taken before.
    static detail::lease_buffer* take_buffer(io_operation& op) noexcept {
        if (op.request_.code != opcode::receive) {
            return nullptr;
        }
        return static_cast<detail::lease_buffer*>(std::exchange(op.request_.data, nullptr));
    }
    /// Returns the buffer of a receive to the pool, if it has one.
    void drop_buffer(io_operation& op) noexcept;

    /// Makes the call for a request now. Not for receive. Thread: any.
    static io_result perform(const io_request& request) noexcept;
    /// Ends a `blocking` operation that was performed: takes it out of its list, and makes the next
    /// one of its descriptor runnable.
    void finished(io_operation& op, io_result result) noexcept;
    /// Marks an operation that another thread will perform. Until came_back() it cannot be
    /// cancelled, and its fd is not closed.
    void send_away(io_operation& op) noexcept;
    /// Completes an operation that another thread has performed.
    void came_back(io_operation& op, io_result result) noexcept;

    /// Makes the engine belong to the calling thread. False: another thread has operations pending.
    [[nodiscard]] virtual bool claim() noexcept { return true; }
    /// Called when the thread that claimed the engine stops running the loop, perhaps for good.
    virtual void run_ends() noexcept {}
    /// Called when an operation is started while nobody runs the loop. If there are no others, the
    /// engine no longer belongs to any thread.
    virtual void disown() noexcept {}
    /// Waits until there is something to do, or until `until`; `time_point::min()` only looks. Sets
    /// `woken` if wake() ended the wait. The result only says if the wait worked; after an error it
    /// can be called again. Besides this, only release(), give_back() and reclaim() block.
    virtual io_result wait(time_point until, bool& woken) noexcept = 0;
    /// Returns the name of the system call with which the last wait() failed.
    virtual const char* wait_call() const noexcept = 0;
    /// Ends the operations that the kernel holds, with `operation_canceled` behind the results that
    /// have come. Called when the kernel refuses to wait.
    virtual void give_up_kernel() noexcept {}
    /// Limits how long release() and reclaim() try again while the kernel is short of something.
    void retry_for(duration limit) noexcept { retry_limit_ = limit; }
    /// Ends the current wait(), or the next one. Thread: any.
    virtual void wake() noexcept = 0;

    /// Returns an fd, in `out`, that is readable when wait() has something to do, for a host to
    /// wait for. From the first call on, it is reliable only if settle() was the last call to the
    /// engine. `not_supported`: there is none.
    virtual call_failure native_handle(int& out) noexcept = 0;
    /// Hands over what was started. False: wait() has work that the kernel does not report.
    [[nodiscard]] virtual bool settle() noexcept = 0;
    /// Makes the native handle readable until the engine is claimed and waits.
    virtual void call_attention() noexcept { wake(); }

    /// True if the slot belongs to this engine.
    bool owns(const fd_slot& slot) noexcept { return slot.fd < 0 || table_.find(slot.fd) == &slot; }

    /// True if operations wait for time, such as accepts without descriptors or memory: call
    /// end_back_off() after a while.
    bool backing_off() const noexcept { return backing_off_; }
    void end_back_off() noexcept;

    /// Closes what the child has inherited by fork(), and begins again. All operations end with
    /// `operation_canceled`; descriptors stay attached.
    virtual call_failure rebuild_after_fork() noexcept = 0;

    /// Detaches the slot in the child after fork(), for a loop that is only destroyed. The kernel
    /// is not notified, since that would count for the parent too, and nothing completes.
    void abandon(fd_slot& slot) noexcept;
    /// Drops an operation in the child after fork(), for a loop that is only destroyed.
    void forget(io_operation& op) noexcept;

    /// Calls `visit` for each operation without a result.
    void for_each_operation(function_ref<void(io_operation&)> visit) noexcept;
    /// Calls `visit` for each attached slot.
    void for_each_descriptor(function_ref<void(fd_slot&)> visit) noexcept {
        table_.for_each(visit);
    }

protected:
    using phase = io_operation::phase;

    /// Registers a new slot with the poller, if there is one.
    virtual std::error_code enroll(fd_slot& slot) noexcept = 0;
    /// Removes the registration of a slot.
    virtual void expel(fd_slot& slot) noexcept = 0;
    /// Removes the registration of an fd that goes back to its user, who may attach it again at
    /// once: it may be removed later. Until then the slot says what is registered.
    virtual void expel_later(fd_slot& slot) noexcept { expel(slot); }
    /// Takes over the registration that `before` has left behind, for `fresh`. True: it was still
    /// there, and `fresh` is enrolled. It is the same open file, unless `before` has lost its kind.
    virtual bool readmit(fd_slot&, fd_slot&) noexcept { return false; }
    /// Returns when the kernel has let go of an operation that was cancelled.
    virtual std::error_code quiesce(io_operation&) noexcept { return {}; }
    /// Drops results that are stored outside of the operation.
    virtual void drop_results(io_operation&) noexcept {}
    /// Closes the descriptors in a result.
    static void drop_result(const io_request& request, io_result result) noexcept;
    /// Returns when the kernel has let go of the slot.
    virtual std::error_code quiesce(fd_slot&) noexcept { return {}; }
    /// True if fds must be in non-blocking mode.
    virtual bool wants_nonblocking() const noexcept = 0;
    /// Lets all operations of this direction go on that can.
    virtual void activate(fd_slot& slot, io_list& list) noexcept = 0;

    /// Continues the receive that starved longest. A buffer is free, or with the kernel.
    virtual void resume(io_operation& op) noexcept = 0;

    /// True for a receive that must wait for a buffer: there is none now but will be, or other
    /// receives starve already, which come first.
    bool lacks_buffer(const io_operation& op) noexcept {
        return op.request_.code == opcode::receive && op.request_.data == nullptr &&
               (!starving_.empty() || none_to_lend());
    }
    /// Reserves a buffer for this receive, whatever runs before it. Precondition: one is free.
    void reserve_buffer(io_operation& op) noexcept;
    /// Makes the call of a receive, into its own buffer or a new one, which it keeps if there is
    /// data.
    io_result receive(io_operation& op) noexcept;
    io_result keep_buffer(io_operation& op, detail::lease_buffer& buffer,
                          io_result result) noexcept;
    /// Lets an operation, which stays in its list, wait for a buffer.
    void starve(io_operation& op) noexcept;
    /// Ends the wait for a buffer, if there is one: the operation waits as before.
    void end_starving(io_operation& op) noexcept;
    /// Continues as many starving receives as there are buffers, `with_kernel` more included.
    /// True: some go on.
    bool feed(std::size_t with_kernel) noexcept {
        return !starving_.empty() && feed_starving(with_kernel);
    }
    /// Called before a wait, which a returning buffer ends from here on. False: one is back.
    [[nodiscard]] bool may_sleep() noexcept { return starving_.empty() || park_pool(); }

    static io_result result_of(end_reason reason) noexcept;
    static bool valid(const io_operation& op) noexcept;
    /// True for an operation that is over before it begins, with its result: on a descriptor that
    /// is no longer attached, or of the wrong kind; at an offset where there are none; with nothing
    /// to move; or waiting for a file, which is always ready.
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

    /// True if a transfer that wants all has moved a part. The request asks for the rest then.
    static bool advance(io_operation& op, io_result result) noexcept {
        return op.request_.all && advance_further(op, result);
    }
    /// Returns the result of all calls together: an error never hides bytes that were moved.
    static io_result total(const io_operation& op, io_result last) noexcept {
        return op.request_.all && op.moved_ != 0 ? total_of_parts(op, last) : last;
    }

    void link(io_operation& op) noexcept {
        op.phase_ = phase::waiting;
        list_of(op).push_back(op);
    }
    void unlink(io_operation& op) noexcept { list_of(op).erase(op); }
    /// Moves an operation that has a result from its list to the ready queue.
    void complete(io_operation& op, io_result result) noexcept;
    void make_runnable(io_operation& op) noexcept {
        if (!ready_queue::contains(op)) {
            op.phase_ = phase::runnable;
            ready_.push(op);
        }
    }
    /// True if the number is still the fd that was attached, as far as the kernel tells.
    static bool is_ours(const fd_slot& slot) noexcept;
    /// Ends one hold on the slot. The last one completes its detaching.
    void let_go(fd_slot& slot) noexcept {
        if (--slot.holds == 0 && slot.detaching) {
            quiet(slot);
        }
    }
    /// Completes the detaching of a slot. Precondition: nothing holds it, and it has no operations.
    void quiet(fd_slot& slot) noexcept;
    void end_operations(fd_slot& slot, end_reason reason) noexcept;
    /// Called when a wait has a result: from then on the fd is in non-blocking mode.
    void settle_mode(fd_slot& slot) noexcept {
        if (slot.mode_unsure) [[unlikely]] {
            look_at_mode(slot);
        }
    }
    /// Takes note of how an accept went. True: it failed in a way that may pass, and all accepts of
    /// its listener pause. The first failure of a row is reported, unless the user gets it.
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
    bool edge_ = false;  ///< the poller is edge-triggered
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
    /// Undoes what attach() has done, and returns `error`.
    std::error_code refuse(fd_slot& fresh, bool enrolled, std::error_code error) noexcept;
    /// Takes an operation out of the ready queue and drops its results. Precondition: the kernel
    /// does not hold it.
    void take_out(io_operation& op) noexcept;
};

/// Makes an epoll, io_uring or poll engine. An io_uring is tried first, up to a completion.
call_failure make_engine(engine_kind kind, ready_queue& ready,
                         std::unique_ptr<engine>& out) noexcept;
call_failure make_readiness_engine(engine_kind kind, ready_queue& ready,
                                   std::unique_ptr<engine>& out) noexcept;
/// Makes an io_uring engine. `entries`: of the submission queue.
call_failure make_uring_engine(ready_queue& ready, unsigned entries,
                               std::unique_ptr<engine>& out) noexcept;

}  // namespace eddy
