// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace eddy {

/// What contains a timer_node.
enum class timer_owner : std::uint8_t { timer, local_timer, io_limit, back_off };

/// A place in a timer_heap. Inside a timer, or an operation with a deadline.
class timer_node {
public:
    bool armed() const noexcept { return position_ != absent; }
    /// INT64_MAX if it is not armed, unless it was due: then that is still here.
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    /// Precondition: it is not armed.
    void forget_deadline() noexcept { deadline_ns_ = INT64_MAX; }

private:
    static constexpr std::uint32_t absent = UINT32_MAX;

    // What pushing back looks at comes first.
    std::int64_t deadline_ns_ = INT64_MAX;
    std::uint32_t sequence_ = 0;  ///< when it was set last
    std::uint32_t position_ = absent;
    std::uint32_t placed_sequence_ = 0;  ///< of the deadline that stands in the heap

    friend class timer_heap;

public:
    timer_owner owner = timer_owner::timer;
};

/// Deadlines in order; equal ones in the order in which they were set.
///
/// A 4-ary heap with the deadline inline; four siblings are one cache line. Moving a timer later
/// only writes the new deadline into its node: the entry in the heap may be earlier than the node's
/// deadline and is put right when it comes to the top.
///
/// Thread: one, except reserve() and unreserve(). Whoever reserves pays for the memory, also for
/// the kernel's giving it; the thread of the heap only moves into an array that is there already,
/// so insert() never allocates.
class timer_heap {
public:
    /// `last_sequence`: for tests, which cannot wait until the numbers are used up.
    explicit timer_heap(std::uint32_t last_sequence = 0) noexcept : last_sequence_(last_sequence) {}
    timer_heap(const timer_heap&) = delete;
    timer_heap& operator=(const timer_heap&) = delete;

    /// Room for one more node. Thread: any. False: no memory.
    [[nodiscard]] bool reserve() noexcept {
        const std::size_t wanted = reserved_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (wanted <= promised_.load(std::memory_order_acquire) || grow(wanted)) {
            return true;
        }
        unreserve();
        return false;
    }
    /// Thread: any. True: that was the last one, and nobody who had reserved will touch the heap.
    bool unreserve() noexcept {
        // acq_rel: whoever is told so sees what all the others did here.
        return reserved_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    bool empty() const noexcept { return end_ == root; }
    std::size_t size() const noexcept { return end_ - root; }

    /// Sets a node that is not armed. Precondition: room was reserved for it.
    void insert(timer_node& node, std::int64_t deadline_ns) noexcept {
        if (end_ == array_end_ || last_sequence_ == UINT32_MAX) [[unlikely]] {
            // Last, so that nothing has to be kept over a call.
            prepare_and_insert(node, deadline_ns);
            return;
        }
        renew(node, deadline_ns);
        const item value = refreshed(node);
        const std::size_t index = end_++;
        if (rises(index, value)) {
            sift_up(index, value);
        } else {
            put(index, value);
        }
    }

    /// Sets a node anew, armed or not.
    void move(timer_node& node, std::int64_t deadline_ns) noexcept {
        if (!node.armed()) {
            insert(node, deadline_ns);
            return;
        }
        if (push_back(node, deadline_ns)) {
            return;
        }
        renew(node, deadline_ns);
        if (deadline_ns > items_[node.position_].deadline_ns) {
            return;
        }
        place(node.position_, refreshed(node));
    }

    /// Sets an armed node anew if that is to later than before, for which nothing but its deadline
    /// has to be looked at: what stands in the heap is not later. Else false, also for a node that
    /// is not armed and has no deadline.
    bool push_back(timer_node& node, std::int64_t deadline_ns) noexcept {
        if (deadline_ns <= node.deadline_ns_) {
            return false;
        }
        renew(node, deadline_ns);
        return true;
    }

    /// False: it was not armed.
    bool erase(timer_node& node) noexcept {
        const std::size_t hole = node.position_;
        const std::size_t end = end_ - 1;
        if (hole >= end) {  // the last one, or `absent`, which is beyond all
            return erase_last(node);
        }
        node.position_ = timer_node::absent;
        node.forget_deadline();
        end_ = end;
        const item last = items_[end];  // in two loads: one would wait for the stores that wrote it
        place(hole, last);
        return true;
    }

    /// The earliest deadline. Precondition: not empty.
    std::int64_t next_deadline_ns() noexcept {
        settle_top();
        return items_[root].deadline_ns;
    }

    /// Takes out the earliest node if it is due at `now_ns`, else null. It still has its deadline.
    timer_node* pop_due(std::int64_t now_ns) noexcept {
        while (!empty() && items_[root].deadline_ns <= now_ns) {
            timer_node& node = *items_[root].node;
            const std::int64_t due_ns = items_[root].deadline_ns;
            if (node.deadline_ns_ == due_ns) {
                erase(node);
                node.deadline_ns_ = due_ns;
                return &node;
            }
            place(root, refreshed(node));
        }
        return nullptr;
    }

    /// Calls `visit(timer_node&)` for each, in no order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (std::size_t i = root; i != end_; ++i) {
            visit(*items_[i].node);
        }
    }
    /// Any node. Precondition: not empty.
    timer_node& last() const noexcept { return *items_[end_ - 1].node; }

private:
    struct item {
        std::int64_t deadline_ns;
        timer_node* node;
    };
    static constexpr std::size_t siblings = 4;
    static constexpr std::align_val_t alignment{siblings * sizeof(item)};
    struct item_deleter {
        void operator()(item* items) const noexcept { ::operator delete(items, alignment); }
    };
    using item_array = std::unique_ptr<item[], item_deleter>;

    /// The index of the first. With it, each group of siblings begins at a multiple of four.
    static constexpr std::size_t root = siblings - 1;
    static std::size_t parent_of(std::size_t index) noexcept { return index / siblings + 2; }
    static std::size_t first_child_of(std::size_t index) noexcept { return (index - 2) * siblings; }

    /// Asks first whether they are equal, which can be predicted: what is left is no branch.
    static bool before(const item& a, const item& b) noexcept {
        return a.deadline_ns != b.deadline_ns ? a.deadline_ns < b.deadline_ns
                                              : a.node->placed_sequence_ < b.node->placed_sequence_;
    }
    bool rises(std::size_t index, const item& value) const noexcept {
        return index != root && before(value, items_[parent_of(index)]);
    }

    void renew(timer_node& node, std::int64_t deadline_ns) noexcept {
        std::uint32_t sequence = last_sequence_ + 1;
        if (sequence == 0) [[unlikely]] {
            renumber();
            sequence = last_sequence_ + 1;
        }
        last_sequence_ = sequence;
        node.deadline_ns_ = deadline_ns;
        node.sequence_ = sequence;
    }

    /// The item for what the node wants now. While it is only in the node, the old pair stays in
    /// the heap, or the order of others below it would break.
    static item refreshed(timer_node& node) noexcept {
        node.placed_sequence_ = node.sequence_;
        return {node.deadline_ns_, &node};
    }

    bool erase_last(timer_node& node) noexcept {
        if (!node.armed()) {
            return false;
        }
        node.position_ = timer_node::absent;
        node.forget_deadline();
        --end_;
        return true;
    }

    void put(std::size_t index, item value) noexcept {
        items_[index] = value;
        value.node->position_ = static_cast<std::uint32_t>(index);
    }

    /// Fills the hole at `index`: towards the root or away from it, whichever is right. Most have
    /// no children, and keep what comes here.
    void place(std::size_t index, item value) noexcept {
        if (rises(index, value)) {
            sift_up(index, value);
        } else if (first_child_of(index) < end_) {
            sift_down(index, value);
        } else {
            put(index, value);
        }
    }

    // Out of line, or those that need them rarely would pay for their registers.

    /// Precondition: rises(index, value).
    [[gnu::noinline]] void sift_up(std::size_t index, item value) noexcept {
        do {
            const std::size_t parent = parent_of(index);
            put(index, items_[parent]);
            index = parent;
        } while (rises(index, value));
        put(index, value);
    }

    /// Precondition: there are children.
    [[gnu::noinline]] void sift_down(std::size_t index, item value) noexcept {
        for (std::size_t first = first_child_of(index); first < end_;
             first = first_child_of(index)) {
            const std::size_t end = first + siblings < end_ ? first + siblings : end_;
            std::size_t least = first;
            for (std::size_t child = first + 1; child != end; ++child) {
                if (before(items_[child], items_[least])) {
                    least = child;
                }
            }
            if (!before(items_[least], value)) {
                break;
            }
            put(index, items_[least]);
            index = least;
        }
        put(index, value);
    }

    void settle_top() noexcept {
        while (items_[root].node->deadline_ns_ != items_[root].deadline_ns) {
            place(root, refreshed(*items_[root].node));
        }
    }

    EDDY_API EDDY_COLD void renumber() noexcept;
    bool grow(std::size_t wanted) noexcept;
    EDDY_API EDDY_COLD void prepare_and_insert(timer_node& node, std::int64_t deadline_ns) noexcept;
    void adopt_spare() noexcept;

    item_array items_;
    std::size_t end_ = root;
    std::size_t array_end_ = root;
    std::uint32_t last_sequence_;

    std::atomic<std::size_t> reserved_{0};
    /// How many the largest array that exists has room for. Never shrinks.
    std::atomic<std::size_t> promised_{0};
    std::mutex spare_mutex_;
    item_array spare_;
    std::size_t spare_end_ = 0;
};

}  // namespace eddy
