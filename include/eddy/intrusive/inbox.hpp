// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation.hpp>

#include <atomic>

namespace eddy {

/// Where other threads leave work for a loop: a stack that the loop takes whole and reverses. The
/// head also says whether the loop sleeps, so that asking "must I wake it?" is part of the push.
///
///     head:  empty  --push-->  nodes          empty  --park-->  asleep
///            nodes  --take-->  empty          asleep --push-->  nodes   (this push must wake it)
///            asleep --take, rouse-->  empty
///
/// A loop that is awake may leave it asleep: then the next push wakes it for nothing.
///
/// tests/model/inbox.pml is the model of this protocol.
class inbox {
public:
    /// Thread: any. True: the loop is asleep, and the caller must wake it. Of all the pushes that
    /// meet one sleep, exactly one is told so.
    [[nodiscard]] bool push(queue_node& node) noexcept {
        queue_node* head = head_.load(std::memory_order_relaxed);
        do {
            node.next_ = head == asleep() ? nullptr : head;
            // release: pairs with take(), which then sees the node's fields and what was written
            // before the push. acquire: pairs with park(): who must wake the loop sees how.
        } while (!head_.compare_exchange_weak(head, &node, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
        return head == asleep();
    }

    /// Thread: the loop's. All nodes in the order in which they were pushed, linked by next().
    queue_node* take() noexcept { return reversed(take_newest_first()); }

    /// The same, the newest first: for who goes through them anyway and can turn them round then.
    queue_node* take_newest_first() noexcept {
        if (is_untouched()) {
            return nullptr;
        }
        // acquire: pairs with push().
        queue_node* newest = head_.exchange(nullptr, std::memory_order_acquire);
        return newest == asleep() ? nullptr : newest;
    }

    static queue_node* reversed(queue_node* newest) noexcept {
        queue_node* oldest = nullptr;
        while (newest != nullptr) {
            queue_node* const older = newest->next_;
            newest->next_ = oldest;
            oldest = newest;
            newest = older;
        }
        return oldest;
    }

    /// Thread: the loop's. From here on a push asks for a wake-up. False: there are nodes; do not
    /// sleep.
    [[nodiscard]] bool park() noexcept {
        if (is_asleep()) {
            return true;  // since an earlier park(), which has published what this one would
        }
        queue_node* expected = nullptr;
        // release: pairs with push(). A push that comes before is seen here by the failing compare;
        // one that comes after sees `asleep`.
        return head_.compare_exchange_strong(expected, asleep(), std::memory_order_release,
                                             std::memory_order_relaxed);
    }

    /// Thread: the loop's. Takes park() back, if nobody has pushed anything since.
    void rouse() noexcept {
        if (is_asleep()) {
            queue_node* expected = asleep();
            // relaxed: nothing is published or read. A push that comes before has asked for a
            // wake-up; its node stays.
            head_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
        }
    }

    /// Thread: the loop's. Nobody has pushed anything, nor has the loop slept, since it took all; a
    /// push that this misses is found by the next take() or by park().
    bool is_untouched() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

    /// Thread: any; a guess unless it is the loop's.
    bool empty() const noexcept {
        const queue_node* const head = head_.load(std::memory_order_relaxed);
        return head == nullptr || head == asleep();
    }

    static queue_node* next(const queue_node& node) noexcept { return node.next_; }

private:
    bool is_asleep() const noexcept { return head_.load(std::memory_order_relaxed) == asleep(); }

    /// An address that no node has.
    queue_node* asleep() const noexcept {
        return reinterpret_cast<queue_node*>(const_cast<std::atomic<queue_node*>*>(&head_));
    }

    std::atomic<queue_node*> head_{nullptr};
};

}  // namespace eddy
