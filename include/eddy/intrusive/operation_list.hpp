#pragma once

#include <eddy/intrusive/operation.hpp>

namespace eddy {

/// First in, first out, with removal from anywhere. An operation is in at most one such list.
class operation_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    operation* front() const noexcept { return head_; }
    static operation* next(const operation& op) noexcept {
        return static_cast<operation*>(op.next_);
    }

    void push_back(operation& op) noexcept {
        op.next_ = nullptr;
        op.prev_ = tail_;
        op.queued_ = true;
        if (tail_ != nullptr) {
            tail_->next_ = &op;
        } else {
            head_ = &op;
        }
        tail_ = &op;
    }

    void push_front(operation& op) noexcept {
        op.next_ = head_;
        op.prev_ = nullptr;
        op.queued_ = true;
        if (head_ != nullptr) {
            head_->prev_ = &op;
        } else {
            tail_ = &op;
        }
        head_ = &op;
    }

    /// Takes over all of `others`, behind what is here. Precondition: there are some.
    void append(operation_list&& others) noexcept {
        others.head_->prev_ = tail_;
        if (tail_ != nullptr) {
            tail_->next_ = others.head_;
        } else {
            head_ = others.head_;
        }
        tail_ = others.tail_;
        others.head_ = others.tail_ = nullptr;
    }

    operation& pop_front() noexcept {
        operation& op = *head_;
        head_ = next(op);
        if (head_ != nullptr) {
            head_->prev_ = nullptr;
        } else {
            tail_ = nullptr;
        }
        op.queued_ = false;
        return op;
    }

    void erase(operation& op) noexcept {
        operation* const after = next(op);
        if (op.prev_ != nullptr) {
            op.prev_->next_ = after;
        } else {
            head_ = after;
        }
        if (after != nullptr) {
            after->prev_ = op.prev_;
        } else {
            tail_ = op.prev_;
        }
        op.queued_ = false;
    }

private:
    operation* head_ = nullptr;
    operation* tail_ = nullptr;
};

}  // namespace eddy
