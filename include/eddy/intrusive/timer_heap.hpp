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

/// The kind of object that contains a timer_node.
enum class timer_owner : std::uint8_t { timer, local_timer, io_limit, back_off };

/// A place in a timer_heap. Part of a timer, or of an operation with a deadline.
class timer_node {
public:
    bool armed() const noexcept { return position_ != absent; }
    /// The deadline. INT64_MAX if the node is not armed, except after pop_due(), which keeps the
    /// deadline.
    std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
    /// Resets the deadline to INT64_MAX. Precondition: the node is not armed.
    void forget_deadline() noexcept { deadline_ns_ = INT64_MAX; }

private:
    static constexpr std::uint32_t absent = UINT32_MAX;

    // The members that push_back() uses come first.
    std::int64_t deadline_ns_ = INT64_MAX;
    std::uint32_t sequence_ = 0;  ///< orders equal deadlines; changes whenever the node is set
    std::uint32_t position_ = absent;
    std::uint32_t placed_sequence_ = 0;  ///< belongs to the deadline that stands in the heap

    friend class timer_heap;

public:
    timer_owner owner = timer_owner::timer;
};

/// Deadlines in order. Equal deadlines keep the order in which they were set.
///
/// A 4-ary heap with the deadline inline, in which four siblings share one cache line. Moving a
/// timer later only writes the new deadline into its node. The entry in the heap may then be
/// earlier than the node's deadline, and is corrected when it reaches the top.
///
/// Thread: one, except reserve() and unreserve(). The thread that reserves pays for the memory,
/// including the page faults. The heap's own thread only moves into an array that already exists,
/// so insert() never allocates.
class timer_heap {
public:
    /// `last_sequence` is for tests, which cannot wait until the sequence numbers are used up.
    explicit timer_heap(std::uint32_t last_sequence = 0) noexcept : last_sequence_(last_sequence) {}
    timer_heap(const timer_heap&) = delete;
    timer_heap& operator=(const timer_heap&) = delete;

    /// Reserves room for one more node. False if there is no memory. Thread: any.
    [[nodiscard]] bool reserve() noexcept {
        const std::size_t wanted = reserved_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (wanted <= promised_.load(std::memory_order_acquire) || grow(wanted)) {
            return true;
        }
        unreserve();
        return false;
    }
    /// Gives back room for one node. True if this was the last reservation: no other thread that
    /// had reserved will touch the heap any more. Thread: any.
    bool unreserve() noexcept {
        // acq_rel: the caller that gets true sees everything that the other callers did before.
        return reserved_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    bool empty() const noexcept { return end_ == root; }
    std::size_t size() const noexcept { return end_ - root; }

    /// Sets a node that is not armed. Precondition: room was reserved for the node.
    void insert(timer_node& node, std::int64_t deadline_ns) noexcept {
        if (end_ == array_end_ || last_sequence_ == UINT32_MAX) [[unlikely]] {
            // A tail call, so that no register has to be saved around it.
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

    /// Sets a node's deadline, whether the node is armed or not.
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

    /// Moves an armed node to a later deadline without touching the heap, whose entry may be too
    /// early. Returns false if the deadline is not later, or if an unarmed node has no deadline.
    bool push_back(timer_node& node, std::int64_t deadline_ns) noexcept {
        if (deadline_ns <= node.deadline_ns_) {
            return false;
        }
        renew(node, deadline_ns);
        return true;
    }

    /// Takes the node out of the heap. False if the node was not armed.
    bool erase(timer_node& node) noexcept {
        const std::size_t hole = node.position_;
        const std::size_t end = end_ - 1;
        if (hole >= end) {  // the last one, or `absent`, which is beyond all
            return erase_last(node);
        }
        node.position_ = timer_node::absent;
        node.forget_deadline();
        end_ = end;
        const item last = items_[end];  // two loads: one wide load would wait for two stores
        place(hole, last);
        return true;
    }

    /// The earliest deadline. Precondition: not empty.
    std::int64_t next_deadline_ns() noexcept {
        settle_top();
        return items_[root].deadline_ns;
    }

    /// Takes out the earliest node, which keeps its deadline, if that is due at `now_ns`. Else
    /// null.
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

    /// Calls `visit(timer_node&)` for each node, in no particular order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (std::size_t i = root; i != end_; ++i) {
            visit(*items_[i].node);
        }
    }
    /// Some armed node. Precondition: not empty.
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

    /// The index of the first item, which makes every group of siblings begin at a multiple of
    /// four.
    static constexpr std::size_t root = siblings - 1;
    static std::size_t parent_of(std::size_t index) noexcept { return index / siblings + 2; }
    static std::size_t first_child_of(std::size_t index) noexcept { return (index - 2) * siblings; }

    /// Tests for equality first, which is predictable; the rest compiles without a branch.
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

    /// The item for the node's present deadline. Until a changed node is refreshed, its old
    /// deadline and sequence stay in the heap: a change would break the order of the items below.
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

    /// Fills the hole at `index`, sifting towards the root or away from it. Most items have no
    /// children, and the hole takes `value` directly.
    void place(std::size_t index, item value) noexcept {
        if (rises(index, value)) {
            sift_up(index, value);
        } else if (first_child_of(index) < end_) {
            sift_down(index, value);
        } else {
            put(index, value);
        }
    }

    // Out of line: callers that rarely need sifting would pay for its registers.

    /// Precondition: rises(index, value).
    [[gnu::noinline]] void sift_up(std::size_t index, item value) noexcept {
        do {
            const std::size_t parent = parent_of(index);
            put(index, items_[parent]);
            index = parent;
        } while (rises(index, value));
        put(index, value);
    }

    /// Precondition: `index` has children.
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
    /// The number of nodes that the largest existing array has room for. Never shrinks.
    std::atomic<std::size_t> promised_{0};
    std::mutex spare_mutex_;
    item_array spare_;
    std::size_t spare_end_ = 0;
};

}  // namespace eddy
