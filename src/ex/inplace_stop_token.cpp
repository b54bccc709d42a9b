// SPDX-License-Identifier: Apache-2.0

// The stop source: registers, removes and runs stop callbacks under a spin lock.
#include "kernel/pause.hpp"

#include <eddy/ex/inplace_stop_token.hpp>

namespace eddy::ex {
namespace {

/// Backs off from the lock. The lock is held for a few pointer writes, so that only a preempted
/// holder is worth a yield.
struct spin {
    int tries = 0;
    void once() noexcept {
        if (++tries > 32) kernel::yield();
    }
};

}  // namespace

inline void inplace_stop_source::unlink(detail::stop_callback_node& node) noexcept {
    *node.link_ = node.next_;
    if (node.next_ != nullptr) node.next_->link_ = node.link_;
    node.link_ = nullptr;
}

inline bool inplace_stop_source::lock_unless_requested(unsigned wanted) noexcept {
    // acquire throughout: a caller that finds the request continues as after stop_requested().
    unsigned seen = state_.load(std::memory_order_acquire);
    for (spin wait;;) {
        if ((seen & requested) != 0) return false;
        if ((seen & locked) != 0) {
            wait.once();
            seen = state_.load(std::memory_order_acquire);
            // acquire: pairs with unlock(). release: pairs with stop_requested().
        } else if (state_.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) [[likely]] {
            return true;
        }
    }
}

inline unsigned inplace_stop_source::lock() noexcept {
    unsigned seen = state_.load(std::memory_order_relaxed);
    for (spin wait;;) {
        if ((seen & locked) != 0) {
            wait.once();
            seen = state_.load(std::memory_order_relaxed);
            // acquire: pairs with unlock().
        } else if (state_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
            return seen;
        }
    }
}

inline void inplace_stop_source::unlock(unsigned state) noexcept {
    state_.store(state, std::memory_order_release);  // pairs with the lock functions
}

bool inplace_stop_source::request_stop() noexcept {
    if (!lock_unless_requested(locked | requested)) return false;
    requester_ = pthread_self();
    bool gone = false;
    gone_ = &gone;
    while (detail::stop_callback_node* const node = first_) {
        unlink(*node);
        // relaxed: read again only under the lock, or by the thread that stores it here.
        running_.store(node, std::memory_order_relaxed);
        unlock(requested);
        node->call_(*node);
        // The node is not touched any more: the call may have destroyed it, and the source with it.
        if (gone) return true;
        // release: pairs with deregister(), which then returns.
        running_.store(nullptr, std::memory_order_release);
        running_.notify_all();
        lock();
    }
    gone_ = nullptr;
    unlock(requested);
    return true;
}

bool inplace_stop_source::enlist(detail::stop_callback_node& node) noexcept {
    if (!lock_unless_requested(locked)) return false;
    node.next_ = first_;
    node.link_ = &first_;
    if (first_ != nullptr) first_->link_ = &node.next_;
    first_ = &node;
    unlock(0);
    return true;
}

void inplace_stop_source::deregister(detail::stop_callback_node& node) noexcept {
    const unsigned before = lock();
    if (node.link_ != nullptr) {
        unlink(node);
        unlock(before);
        return;
    }
    const bool inside = running_.load(std::memory_order_relaxed) == &node &&
                        pthread_equal(requester_, pthread_self()) != 0;
    unlock(before);
    if (inside) return;
    // acquire: pairs with the store after the call. The address cannot run a second time: it
    // belongs to `node` until this function returns.
    while (running_.load(std::memory_order_acquire) == &node) {
        running_.wait(&node, std::memory_order_acquire);
    }
}

}  // namespace eddy::ex
