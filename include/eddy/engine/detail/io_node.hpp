// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/engine/io_request.hpp>
#include <eddy/intrusive/operation.hpp>

#include <cstdint>

namespace eddy {

class io_operation;

/// The reason why an operation ends without having been done.
enum class end_reason : std::uint8_t {
    none,
    canceled,   ///< operation_canceled: by its user, or by the end of the loop
    closed,     ///< operation_canceled: its descriptor was closed
    timed_out,  ///< errc::timed_out
    bad_fd,     ///< bad_file_descriptor: others closed the fd
    no_memory,  ///< not_enough_memory: there was none for its deadline
};

namespace detail {

/// The part of an io_operation that its loop and engine work with, and nobody else.
struct io_node : operation {
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

    io_node() noexcept : operation(node_kind::io) {}
    io_node(void (*on_complete)(io_operation&) noexcept, const io_request& request) noexcept
        : operation(node_kind::io), request_(request), callback_(on_complete) {}

    using operation::queued_;

    io_request request_;
    io_result result_;
    void (*callback_)(io_operation&) noexcept = nullptr;
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
};

}  // namespace detail

}  // namespace eddy
