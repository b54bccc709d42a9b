// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/interest.hpp>
#include <eddy/engine/detail/fd_slot.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/intrusive/timer_heap.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

struct iovec;
struct msghdr;
struct sockaddr;

namespace eddy {

enum class opcode : std::uint8_t {
    none,
    read,
    write,
    readv,
    writev,
    recv,
    send,
    recvmsg,
    receive,
    sendmsg,
    send_file,
    accept,
    connect,
    shutdown,
    open,
    close,
    fsync,
    wait,
};

EDDY_API const char* to_string(opcode code) noexcept;

/// The reason why an operation ends without having been done.
enum class end_reason : std::uint8_t {
    none,
    canceled,   ///< operation_canceled: by its user, or by the end of the loop
    closed,     ///< operation_canceled: its descriptor was closed
    timed_out,  ///< errc::timed_out
    bad_fd,     ///< bad_file_descriptor: others closed the fd
    no_memory,  ///< not_enough_memory: there was none for its deadline
};

/// The first and the last of an operation's results, by their numbers in a result_pool.
struct record_chain {
    std::uint32_t first;  ///< UINT32_MAX: there are none
    std::uint32_t last;
};

/// A request for an I/O operation, made by the functions in <eddy/loop/requests.hpp>.
/// Lifetime: what it points to (buffers, vectors, addresses, paths) must live until the operation
/// has completed.
struct io_request {
    opcode code = opcode::none;
    bool multishot = false;
    bool all = false;  ///< ends when everything was moved; vectors are consumed in place
    /// wait: completes only for something new. The caller has found, since the last result, that
    /// nothing more can be done. An edge-triggered poller then need not be asked at the start.
    bool edge = false;
    /// recv, send, recvmsg, sendmsg: MSG_*; accept: SOCK_*; shutdown: SHUT_*; open: O_*;
    /// wait: interest; readv, writev: the number of vectors; fsync: 1 for data only;
    /// send_file: the fd of the file.
    int flags = 0;
    fd_slot* slot = nullptr;
    std::uint32_t generation = 0;
    /// open: the mode of a new file; connect: the length of the address; accept: 1 if every error
    /// is a result, even one that an accept survives; wait: 1 if every engine looks at the start,
    /// unless `edge` is set (otherwise io_uring leaves that to the kernel).
    std::uint32_t mode = 0;
    /// Buffer, iovec, msghdr, sockaddr, path; receive: the lent buffer, once there is one.
    void* data = nullptr;
    union {
        std::uint64_t size = 0;  ///< of the buffer, even a future one; open: RESOLVE_*
        unsigned* address_size;  ///< accept: a socklen_t, or null
    };
    union {
        std::int64_t offset = -1;  ///< of the file; -1: its own position; open: the directory's fd
        record_chain records;      ///< io_uring, multishot: results that were not delivered yet
    };

    int directory() const noexcept { return static_cast<int>(offset); }
};

/// One piece of I/O. It completes exactly once; a multishot operation completes several times, with
/// more() on all but the last.
///
/// The completion is called on the loop's thread, after start() or inside it (at most
/// `loop_options::inline_max` deep). It may start the operation again or destroy it; for a
/// multishot operation, only when more() is false.
///
/// Lifetime: must stay alive and in place while it is pending.
class io_operation : public operation {
public:
    using callback = void (*)(io_operation&) noexcept;

    io_operation() noexcept : operation(node_kind::io) {}
    explicit io_operation(callback on_complete) noexcept : io_operation() {
        set_callback(on_complete);
    }
    ~io_operation() {
        EDDY_ASSERT(!pending(),
                    "an I/O operation was destroyed while it was pending: cancel it "
                    "and wait for its completion first");
    }

    void set_callback(callback on_complete) noexcept { callback_ = on_complete; }
    /// Precondition: the operation is not pending.
    void set_priority(priority_level priority) noexcept {
        EDDY_ASSERT(!pending() && priority < priority_count, "bad time or value for a priority");
        priority_ = priority;
    }

    /// Moves the operation to the background, where it does not keep run_mode::empty, run_one() and
    /// run_some() going. Precondition: the operation is not pending.
    void set_background(bool background) noexcept {
        EDDY_ASSERT(!pending(), "bad time to move an operation to the background");
        background_ = background;
    }

    bool pending() const noexcept { return phase_ != phase::idle; }
    bool more() const noexcept { return more_; }
    io_result result() const noexcept { return result_; }
    const io_request& request() const noexcept { return request_; }
    /// True if the operation ended because it was cancelled or the loop ends; false if its
    /// descriptor was closed.
    bool was_canceled() const noexcept {
        return wanted_end_ == end_reason::canceled &&
               result_.system_error() == static_cast<int>(std::errc::operation_canceled);
    }
    /// True if the operation's descriptor is no longer attached: starting it again is pointless.
    bool lost_descriptor() const noexcept {
        const fd_slot* const slot = request_.slot;
        return slot != nullptr && (slot->generation != request_.generation || slot->detaching);
    }

protected:
    io_operation(callback on_complete, const io_request& request) noexcept
        : operation(node_kind::io), request_(request), callback_(on_complete) {}
    /// Precondition: the operation is not pending.
    void aim_at(fd_slot* slot, std::uint32_t generation) noexcept {
        request_.slot = slot;
        request_.generation = generation;
    }

private:
    ///     idle --another thread starts it--> posted --the loop takes it--> waiting
    ///     idle --start()--> waiting --ready--> runnable --finish()--> waiting (it would block)
    ///     waiting, runnable --result--> completed --callback--> idle
    ///     waiting --sent to an executor--> away --posted back--> completed
    ///     runnable --no buffer is left--> starving --one comes back--> waiting, runnable
    enum class phase : std::uint8_t { idle, posted, waiting, runnable, starving, completed, away };

    void renew() noexcept {
        result_ = {};
        if (request_.multishot) {
            request_.records = {UINT32_MAX, UINT32_MAX};
        }
        moved_ = 0;
        phase_ = phase::waiting;
        easy_ = 0;
        more_ = timed_ = in_progress_ = cancel_sent_ = ending_ = false;
    }

    io_request request_;
    io_result result_;
    callback callback_ = nullptr;
    io_operation* list_next_ = nullptr;
    io_operation* list_prev_ = nullptr;
    union {
        std::uint32_t moved_ = 0;  ///< by earlier calls of a transfer that wants all
        std::uint32_t told_;       ///< readiness engines: the conditions reported to a wait
        std::uint32_t buffers_;    ///< io_uring: buffers given to the kernel before a receive
        std::uint32_t gone_;       ///< io_uring: connections in a row that were gone
    };
    phase phase_ = phase::idle;
    end_reason wanted_end_ = end_reason::none;
    union {
        std::uint8_t in_a_row_ = 0;  ///< io_uring: results of a multishot receive, see uring_engine
        /// Readiness engines: not 0 for a receive that needs no checks when it is popped. It is on
        /// a socket, single, in the foreground, and has neither a deadline nor a buffer.
        std::uint8_t easy_;
    };
    bool background_ : 1 = false;
    bool more_ : 1 = false;
    bool timed_ : 1 = false;
    bool in_kernel_ : 1 = false;
    /// A connect that has begun. io_uring: the kernel only polls for the operation.
    bool in_progress_ : 1 = false;
    bool cancel_sent_ : 1 = false;
    bool ending_ : 1 = false;  ///< io_uring: its last result is there, and the kernel still has it
    bool takes_lease_ : 1 = false;  ///< a receive whose completion takes the buffer

    friend class loop;
    friend class lease_operation;
    friend class own_io;
    friend class stoppable_io;
    friend class io_list;
    friend class engine;
    friend class readiness_engine;
    friend class uring_engine;
};

/// An I/O operation that can have a deadline.
class timed_io_operation : public io_operation {
public:
    using io_operation::io_operation;

private:
    timer_node limit_;

    friend class loop;
};

inline void io_list::push_back(io_operation& op) noexcept {
    if (head_ == nullptr) {
        op.list_next_ = op.list_prev_ = head_ = &op;
        return;
    }
    io_operation* const tail = head_->list_prev_;
    op.list_next_ = head_;
    op.list_prev_ = tail;
    tail->list_next_ = head_->list_prev_ = &op;
}

inline void io_list::erase(io_operation& op) noexcept {
    if (op.list_next_ == &op) {
        head_ = nullptr;
    } else {
        op.list_prev_->list_next_ = op.list_next_;
        op.list_next_->list_prev_ = op.list_prev_;
        if (head_ == &op) {
            head_ = op.list_next_;
        }
    }
    op.list_next_ = op.list_prev_ = nullptr;
}

inline bool io_list::has_only(const io_operation& op) const noexcept {
    return op.list_next_ == &op;
}

inline io_operation* io_list::next(const io_operation& op, const io_list& list) noexcept {
    return op.list_next_ == list.head_ ? nullptr : op.list_next_;
}

template <class Visitor>
void io_list::for_each(Visitor&& visit) const {
    io_operation* op = head_;
    while (op != nullptr) {
        io_operation* const after = next(*op, *this);
        visit(*op);
        op = after;
    }
}

}  // namespace eddy
