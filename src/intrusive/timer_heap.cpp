// SPDX-License-Identifier: Apache-2.0

// The rarely used parts of the timer heap: growing its array and renumbering its nodes.
#include <eddy/intrusive/timer_heap.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace eddy {

bool timer_heap::grow(std::size_t wanted) noexcept {
    constexpr std::size_t most = timer_node::absent - root;
    if (wanted > most) {
        return false;
    }
    // relaxed: the value is read again under the lock.
    const std::size_t promised = promised_.load(std::memory_order_relaxed);
    const std::size_t size = std::min(std::max<std::size_t>({wanted, promised * 2, 16}), most);
    const std::size_t end = root + size;
    // Allocates without the lock, so that the heap's thread never waits for an allocation. Threads
    // that reach the limit together allocate one array each, and all but one array are freed.
    item_array array(
        static_cast<item*>(::operator new(end * sizeof(item), alignment, std::nothrow)));
    if (array != nullptr) {
        // Touches all pages now. Otherwise insert() would cause a page fault at each new page.
        std::uninitialized_value_construct_n(array.get(), end);
    }
    const std::lock_guard lock(spare_mutex_);
    if (wanted <= promised_.load(std::memory_order_relaxed)) {
        return true;  // another thread was faster
    }
    if (array == nullptr) {
        return false;
    }
    spare_.swap(array);
    spare_end_ = end;
    // release: pairs with reserve(). Only the number travels here; the mutex publishes the array.
    promised_.store(size, std::memory_order_release);
    return true;
}

/// Handles the rare cases of insert(): a full array, or used-up sequence numbers.
void timer_heap::prepare_and_insert(timer_node& node, std::int64_t deadline_ns) noexcept {
    if (end_ == array_end_) {
        adopt_spare();
    }
    if (last_sequence_ == UINT32_MAX) {
        renumber();
    }
    insert(node, deadline_ns);
}

void timer_heap::adopt_spare() noexcept {
    const std::lock_guard lock(spare_mutex_);
    EDDY_ASSERT(spare_ != nullptr, "a timer was set for which no room was reserved");
    if (!empty()) {  // there may be no array yet, and a null address allows no offset
        std::copy(items_.get() + root, items_.get() + end_, spare_.get() + root);
    }
    items_ = std::move(spare_);
    array_end_ = spare_end_;
}

/// Gives each node a new sequence number, in the order of the old ones. Needed once in 2^32
/// settings, and takes as long as sorting the armed nodes.
void timer_heap::renumber() noexcept {
    last_sequence_ = 0;
    if (empty()) {
        return;  // there may be no array yet
    }
    std::sort(items_.get() + root, items_.get() + end_, [](const item& a, const item& b) {
        const timer_node& m = *a.node;
        const timer_node& n = *b.node;
        return m.deadline_ns_ != n.deadline_ns_ ? m.deadline_ns_ < n.deadline_ns_
                                                : m.sequence_ < n.sequence_;
    });
    for (std::size_t index = root; index != end_; ++index) {  // a sorted array is a heap
        timer_node& node = *items_[index].node;
        node.sequence_ = ++last_sequence_;
        put(index, refreshed(node));
    }
}

}  // namespace eddy
