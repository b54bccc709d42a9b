// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation.hpp>

#include <atomic>

namespace eddy {

/// A stack on which other threads leave work for a loop, which takes it whole and reverses it. The
/// head also says whether the loop sleeps, so that a push finds out whether to wake the loop.
///
///     head:  empty  --push-->  nodes          empty  --park-->  asleep
///            nodes  --take-->  empty          asleep --push-->  nodes   (this push must wake it)
///            asleep --take, rouse-->  empty
///
/// A loop that is awake may leave the head asleep. The next push then wakes the loop for nothing.
///
/// tests/model/inbox.pml is the model of this protocol.
class inbox {
public:
    /// Adds `node`. True if the loop is asleep and the caller must wake it: exactly one of all the
    /// pushes during one sleep returns true. Thread: any.
    [[nodiscard]] bool push(queue_node& node) noexcept {
        queue_node* head = head_.load(std::memory_order_relaxed);
        do {
            node.next_ = head == asleep() ? nullptr : head;
            // release: pairs with take(), which sees the node's fields and all writes before the
            // push. acquire: pairs with park(), so that a caller that must wake the loop sees how.
        } while (!head_.compare_exchange_weak(head, &node, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
        return head == asleep();
    }

    /// Takes all nodes, in the order in which they were pushed, linked by next(). Thread: the
    /// loop's.
    queue_node* take() noexcept { return reversed(take_newest_first()); }

    /// Takes all nodes, newest first, for callers that walk the list anyway and reverse it on the
    /// way. Thread: the loop's.
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

    /// Marks the loop as asleep: from now on a push asks for a wake-up. False if nodes are present,
    /// in which case the loop must not sleep. Thread: the loop's.
    [[nodiscard]] bool park() noexcept {
        if (is_asleep()) {
            return true;  // an earlier park() has published everything already
        }
        queue_node* expected = nullptr;
        // release: pairs with push(). An earlier push makes the comparison fail; a later push sees
        // `asleep`.
        return head_.compare_exchange_strong(expected, asleep(), std::memory_order_release,
                                             std::memory_order_relaxed);
    }

    /// Undoes park(), unless a node has been pushed since. Thread: the loop's.
    void rouse() noexcept {
        if (is_asleep()) {
            queue_node* expected = asleep();
            // relaxed: nothing is published or read. An earlier push has asked for a wake-up, and
            // its node stays.
            head_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
        }
    }

    /// True if no thread has pushed and the loop has not parked since the last take. A push that
    /// this check misses is found by the next take() or park(). Thread: the loop's.
    bool is_untouched() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

    /// True if no node is present. Thread: any, but only the loop's thread gets more than a guess.
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
