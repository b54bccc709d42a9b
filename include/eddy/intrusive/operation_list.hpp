// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation.hpp>

namespace eddy {

/// A first-in, first-out list with removal from anywhere. An operation is in at most one such list.
///
/// The `prev_` of the first operation and the `tail_` of an empty list are meaningless, so nothing
/// has to write them: pop_front() touches no other operation.
class operation_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    operation* front() const noexcept { return head_; }
    static operation* next(const operation& op) noexcept {
        return static_cast<operation*>(op.next_);
    }

    /// Adds `op` at the end. True if the list was empty.
    bool push_back(operation& op) noexcept {
        operation* const last = tail_;
        const bool first = empty();
        op.next_ = nullptr;
        op.prev_ = last;
        op.queued_ = true;
        tail_ = &op;
        if (first) {
            head_ = &op;
        } else {
            last->next_ = &op;
        }
        return first;
    }

    void push_front(operation& op) noexcept {
        op.next_ = head_;
        op.queued_ = true;
        if (head_ != nullptr) {
            head_->prev_ = &op;
        } else {
            tail_ = &op;
        }
        head_ = &op;
    }

    /// Moves all of `others` to the end of this list. Precondition: `others` is not empty.
    void append(operation_list&& others) noexcept {
        if (empty()) {
            head_ = others.head_;
        } else {
            others.head_->prev_ = tail_;
            tail_->next_ = others.head_;
        }
        tail_ = others.tail_;
        others.head_ = nullptr;
    }

    operation& pop_front() noexcept {
        operation& op = *head_;
        head_ = next(op);
        op.queued_ = false;
        return op;
    }

    void erase(operation& op) noexcept {
        operation* const after = next(op);
        if (&op == head_) {
            head_ = after;
        } else {
            op.prev_->next_ = after;
        }
        if (after != nullptr) {
            after->prev_ = op.prev_;
        } else {
            tail_ = op.prev_;
        }
        op.queued_ = false;
    }

    /// Calls `visit(operation&)` for each operation. `visit` must not change the list.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (operation* op = head_; op != nullptr; op = next(*op)) {
            visit(*op);
        }
    }

private:
    operation* head_ = nullptr;
    operation* tail_ = nullptr;
};

}  // namespace eddy
