// SPDX-License-Identifier: Apache-2.0
#pragma once

#if EDDY_HAS_IO_URING

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/engine/io_operation.hpp>
#include "base/call_failure.hpp"
#include "kernel/uring.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>

#include <liburing.h>
#include <sys/socket.h>

namespace eddy {

/// The two queues shared with the kernel, and the functions that write operations into them.
class uring_ring {
public:
    uring_ring() = default;
    ~uring_ring() { close(); }
    uring_ring(const uring_ring&) = delete;
    uring_ring& operator=(const uring_ring&) = delete;

    /// Makes the ring, disabled: nothing is submitted before enable(). If `told` is an eventfd, the
    /// kernel writes it whenever there is a completion, even while the thread waits for others.
    call_failure open(unsigned entries, const unique_fd& told) noexcept;
    void close() noexcept;
    bool is_open() const noexcept { return open_; }
    /// Makes the ring belong to this thread from here on.
    call_failure enable() noexcept;
    void run_begins() noexcept { enters_ = 0; }
    /// Makes a small ring and has one entry completed, to find out if all calls that an engine
    /// needs are allowed. (A filter may deny each of them alone.)
    static call_failure try_out() noexcept;
    bool belongs_to_another_thread() const noexcept;

    unsigned completion_entries() const noexcept { return *ring_.cq.kring_entries; }

    /// Returns an entry, all 0. Null: the queue stays full, or the ring is not enabled.
    io_uring_sqe* next_sqe() noexcept {
        if (!enabled_) {
            return nullptr;
        }
        io_uring_sqe* sqe = free_sqe();
        if (sqe == nullptr) [[unlikely]] {
            static_cast<void>(enter(0, time_point::min()));
            sqe = free_sqe();
        }
        if (sqe != nullptr) {
            *sqe = {};
        }
        return sqe;
    }
    void prepare(io_uring_sqe& sqe, const io_request& request) noexcept;
    /// Prepares a send on a socket.
    static void prepare_send(io_uring_sqe& sqe, const io_request& request) noexcept {
        // If all is wanted, the rest is submitted separately: the kernel's own way drops an error
        // behind the first bytes.
        constexpr int ignored = MSG_DONTWAIT | MSG_WAITALL;
        io_uring_prep_send(&sqe, request.slot->fd, request.data, request.size,
                           (request.flags & ~ignored) | MSG_NOSIGNAL);
    }
    /// Prepares a receive on a socket, into a buffer that the kernel picks.
    static void prepare_single_receive(io_uring_sqe& sqe, const io_request& request) noexcept {
        io_uring_prep_recv(&sqe, request.slot->fd, nullptr, request.size, 0);
        pick_buffer(sqe);
    }
    static void prepare_poll(io_uring_sqe& sqe, const io_request& request) noexcept;
    static void prepare_cancel(io_uring_sqe& sqe, const io_operation& op) noexcept;
    static void prepare_wake(io_uring_sqe& sqe, int fd) noexcept;

    static std::uint64_t token(const io_operation& op) noexcept {
        return reinterpret_cast<std::uintptr_t>(&op);
    }
    /// Returns the operation of a token. Null: it is not the token of an operation.
    static io_operation* operation_of(std::uint64_t token) noexcept {
        const bool own = token == wake_token || (token & cancel_mark) != 0;
        return own ? nullptr : reinterpret_cast<io_operation*>(token);
    }
    static bool is_wake(std::uint64_t token) noexcept { return token == wake_token; }
    /// Returns the descriptor of a cancelled operation, which the descriptor outlives. Null: it is
    /// not the token of a cancellation, or there is no descriptor.
    static fd_slot* cancelled_on(std::uint64_t token) noexcept {
        return (token & cancel_mark) != 0 ? reinterpret_cast<fd_slot*>(token & ~cancel_mark)
                                          : nullptr;
    }

    /// Submits the queue, and waits for `wait_for` completions. Makes no call without need.
    std::error_code enter(unsigned wait_for, time_point until) noexcept;
    /// Has the kernel bring all completions that it holds back. Submits nothing.
    std::error_code flush() noexcept;
    /// Replaces an entry that the kernel has not taken yet by one that does nothing. False: it has.
    bool unsubmit(const io_operation& op) noexcept;
    /// Cancels an operation without entering the ring. The kernel is done with it then. Linux 6.0.
    std::error_code cancel(const io_operation& op, duration limit) noexcept;

    /// Called when the thread that owns the ring stops running the loop, perhaps for good.
    void run_ends() noexcept;

    /// True if all was handed over, and the kernel holds nothing back that it has reported.
    bool settled() const noexcept;

    bool has_completion() const noexcept { return io_uring_cq_ready(&ring_) != 0; }
    /// Calls `take(const io_uring_cqe&)` for each completion while `may_take()`, and returns how
    /// many.
    template <class MayTake, class Take>
    unsigned take_completions(MayTake&& may_take, Take&& take) noexcept {
        const io_uring_cq& queue = ring_.cq;
        const unsigned mask = *queue.kring_mask;
        const unsigned first = *queue.khead;
        unsigned head = first;
        // acquire: pairs with the kernel's store of the tail; the entries before it are there.
        const unsigned tail = std::atomic_ref(*queue.ktail).load(std::memory_order_acquire);
        for (; head != tail && may_take(); ++head) {
            take(queue.cqes[head & mask]);
        }
        // release: pairs with the kernel's load of the head; these entries were read.
        std::atomic_ref(*queue.khead).store(head, std::memory_order_release);
        return head - first;
    }

    /// Calls `visit(io_uring_cqe&)` for each completion that take_completions() would take.
    template <class Visit>
    void for_each_unread(Visit&& visit) noexcept {
        const io_uring_cq& queue = ring_.cq;
        // acquire: as in take_completions().
        const unsigned tail = std::atomic_ref(*queue.ktail).load(std::memory_order_acquire);
        for (unsigned head = *queue.khead; head != tail; ++head) {
            visit(queue.cqes[head & *queue.kring_mask]);
        }
    }

    /// Has receives served out of `memory`. Lifetime: `memory` must live until close().
    std::error_code share_buffers(io_uring_buf_ring& memory, unsigned entries) noexcept;

    /// True if the kernel is asked to go on with the receive by itself.
    bool receives_on(const io_request& request) const noexcept {
        return request.multishot && multishot_receive_ && is_socket(request.slot->kind);
    }
    bool multishot_accept() const noexcept { return multishot_accept_; }
    void disable_multishot_accept() noexcept { multishot_accept_ = false; }
    void disable_multishot_receive() noexcept { multishot_receive_ = false; }

    /// The token of entries whose completions nobody needs.
    static constexpr std::uint64_t nobodys_token = 1;

private:
    /// Marks the token of a cancellation. The addresses of operations and slots are even.
    static constexpr std::uint64_t cancel_mark = 1;
    static constexpr std::uint64_t wake_token = 2;

    static constexpr unsigned short buffer_group = 0;
    /// How many buffers of backlog a multishot receive may fill before its owner is asked. Without
    /// a limit, one fast peer would drain the pool.
    static constexpr std::size_t buffers_in_a_row = 4;

    /// How many calls of the kernel it takes before registering the ring is worthwhile.
    static constexpr unsigned enters_until_registered = 64;

    unsigned publish() noexcept;
    kernel::ring_name name() const noexcept {
        return {registered_ ? ring_.enter_ring_fd : ring_.ring_fd, registered_};
    }
    EDDY_COLD void register_with_thread() noexcept;
    io_uring_sqe* free_sqe() noexcept {
        io_uring_sq& queue = ring_.sq;
        // acquire: pairs with the kernel's store of the head; it has read those entries.
        const unsigned head = std::atomic_ref(*queue.khead).load(std::memory_order_acquire);
        const bool full = queue.sqe_tail - head == *queue.kring_entries;
        return full ? nullptr : &queue.sqes[queue.sqe_tail++ & *queue.kring_mask];
    }
    void prepare_receive(io_uring_sqe& sqe, const io_request& request) const noexcept;
    static void pick_buffer(io_uring_sqe& sqe) noexcept {
        sqe.flags |= IOSQE_BUFFER_SELECT;
        sqe.buf_group = buffer_group;
    }
    bool kernel_has_work() const noexcept;
    void prepare_open(io_uring_sqe& sqe, const io_request& request) noexcept;
    void prepare_write(io_uring_sqe& sqe, const io_request& request) noexcept;
    void prepare_writev(io_uring_sqe& sqe, const io_request& request) noexcept;
    /// Returns the flag that prevents SIGPIPE, or sets up a guard if the kernel lacks it.
    int no_sigpipe() noexcept;

    io_uring ring_{};
    bool open_ = false;
    bool enabled_ = false;
    bool multishot_accept_ = true;
    bool multishot_receive_ = false;
    bool guard_sigpipe_ = false;
    bool registered_ = false;  ///< with the thread that runs the loop
    /// Calls during this run; enters_until_registered outside of a run.
    unsigned enters_ = enters_until_registered;
    std::uint64_t owner_ = 0;  ///< the thread that enabled it
    /// The arguments of openat2, one per entry, until the kernel has read them.
    std::unique_ptr<open_how[]> hows_;
};

}  // namespace eddy

#endif
