// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/error.hpp>
#include <eddy/engine/detail/fd_slot.hpp>
#include <eddy/engine/detail/io_node.hpp>
#include <eddy/engine/io_request.hpp>
#include <eddy/intrusive/operation.hpp>
#include <eddy/intrusive/timer_heap.hpp>

#include <cstdint>
#include <system_error>

namespace eddy {

/// One piece of I/O. It completes exactly once; a multishot operation completes several times, with
/// more() on all but the last.
///
/// The completion is called on the loop's thread, after start() or inside it (at most
/// `loop_options::inline_max` deep). It may start the operation again or destroy it; for a
/// multishot operation, only when more() is false.
///
/// Lifetime: must stay alive and in place while it is pending.
class io_operation : public detail::io_node {
public:
    using callback = void (*)(io_operation&) noexcept;

    io_operation() noexcept = default;
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
        : io_node(on_complete, request) {}
    /// Precondition: the operation is not pending.
    void aim_at(fd_slot* slot, std::uint32_t generation) noexcept {
        request_.slot = slot;
        request_.generation = generation;
    }
};

/// An I/O operation that can have a deadline.
class timed_io_operation : public io_operation {
public:
    using io_operation::io_operation;

    timer_node limit_;  ///< the loop's
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
