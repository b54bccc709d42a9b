// SPDX-License-Identifier: Apache-2.0
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
    // relaxed: it is looked at again under the lock.
    const std::size_t promised = promised_.load(std::memory_order_relaxed);
    const std::size_t size = std::min(std::max<std::size_t>({wanted, promised * 2, 16}), most);
    const std::size_t end = root + size;
    // Without the lock, for which the thread of the heap would have to wait as long as this takes.
    // Threads that come to the limit together make one each, and all but one are in vain.
    item_array array(
        static_cast<item*>(::operator new(end * sizeof(item), alignment, std::nothrow)));
    if (array != nullptr) {
        // Or the kernel would give the pages one by one, whenever insert() comes to the next.
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
    // release: pairs with reserve(). Only the number travels here; the array goes by the mutex.
    promised_.store(size, std::memory_order_release);
    return true;
}

/// What is rare about it: the array is full, or the numbers are used up.
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
    if (!empty()) {  // else there may be no array yet, and nothing may be added to its address
        std::copy(items_.get() + root, items_.get() + end_, spare_.get() + root);
    }
    items_ = std::move(spare_);
    array_end_ = spare_end_;
}

/// The numbers are used up: each node gets a new one, in the order of the old ones. Once in four
/// thousand million times that a timer is set, for as long as it takes to sort what is armed.
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
    for (std::size_t index = root; index != end_; ++index) {  // what is sorted is a heap
        timer_node& node = *items_[index].node;
        node.sequence_ = ++last_sequence_;
        put(index, refreshed(node));
    }
}

}  // namespace eddy
