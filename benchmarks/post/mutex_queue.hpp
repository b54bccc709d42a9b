// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace bench {

/// What users of libuv and libev write, because those only offer a wake-up: a queue with a mutex.
/// Intrusive, and taken whole, which is the fastest of its kind.
class mutex_queue {
public:
    struct item {
        item* next = nullptr;
    };

    /// True: it was empty, so the loop must be woken.
    [[nodiscard]] bool push(item& i) {
        const std::lock_guard lock(mutex_);
        const bool was_empty = first_ == nullptr;
        i.next = nullptr;
        (was_empty ? first_ : last_->next) = &i;
        last_ = &i;
        return was_empty;
    }

    /// All items, oldest first.
    item* take() {
        const std::lock_guard lock(mutex_);
        item* all = first_;
        first_ = nullptr;
        return all;
    }

private:
    std::mutex mutex_;
    item* first_ = nullptr;
    item* last_ = nullptr;
};

}  // namespace bench
