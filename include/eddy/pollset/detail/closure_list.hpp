// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/pollset/closure.hpp>

namespace eddy::detail {

/// A first-in, first-out list of closures. A closure is in at most one list.
class closure_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }

    void push(closure& c, std::error_code error) noexcept {
        c.error_ = error;
        c.next_ = nullptr;
        (tail_ != nullptr ? tail_->next_ : head_) = &c;
        tail_ = &c;
    }

    /// Removes the first closure. Does not read the last one: it may be in another core's cache.
    closure& pop() noexcept {
        closure& c = *head_;
        if (head_ == tail_) {
            head_ = tail_ = nullptr;
        } else {
            head_ = c.next_;
        }
        return c;
    }

    /// Moves all closures of `other` to the end of this list.
    void append(closure_list& other) noexcept {
        if (other.empty()) {
            return;
        }
        (tail_ != nullptr ? tail_->next_ : head_) = other.head_;
        tail_ = other.tail_;
        other.head_ = other.tail_ = nullptr;
    }

private:
    closure* head_ = nullptr;
    closure* tail_ = nullptr;
};

}  // namespace eddy::detail
