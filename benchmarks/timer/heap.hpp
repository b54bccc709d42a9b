// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bench {

/// A bare 4-ary heap: the deadline inline, first come first served at equal deadlines, and moving a
/// timer later only writes its new deadline, which counts when the old one comes up.
class heap {
public:
    struct node {
        std::int64_t deadline = 0;
        std::uint64_t sequence = 0;         // of the deadline above
        std::uint64_t placed_sequence = 0;  // of the one that stands in the heap
        std::size_t place = absent;
    };

    static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

    void reserve(std::size_t count) { entries_.reserve(count); }
    /// Makes the kernel give the pages of what is reserved.
    void touch() {
        entries_.resize(entries_.capacity());
        entries_.clear();
    }
    bool empty() const noexcept { return entries_.empty(); }
    std::int64_t first_key() const noexcept { return entries_.front().key; }

    void insert(node& n, std::int64_t deadline) {
        n.deadline = deadline;
        n.sequence = next_sequence_++;
        entries_.push_back(placed(n));
        sift_up(entries_.size() - 1, entries_.back());
    }

    void remove(node& n) noexcept {
        const std::size_t hole = n.place;
        const entry last = entries_.back();
        entries_.pop_back();
        n.place = absent;
        if (hole < entries_.size()) replace(hole, last);
    }

    void move_later(node& n, std::int64_t deadline) noexcept {
        n.deadline = deadline;
        n.sequence = next_sequence_++;
    }

    /// The first whose deadline has come, or null; moves those on that were pushed back.
    node* take_expired(std::int64_t now) noexcept {
        while (!entries_.empty() && entries_.front().key <= now) {
            node* n = entries_.front().owner;
            if (n->sequence == n->placed_sequence) {
                remove(*n);
                return n;
            }
            replace(0, placed(*n));
        }
        return nullptr;
    }

private:
    struct entry {
        std::int64_t key;
        node* owner;
    };

    static bool before(const entry& a, const entry& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.owner->placed_sequence < b.owner->placed_sequence;
    }

    static entry placed(node& n) noexcept {
        n.placed_sequence = n.sequence;
        return {n.deadline, &n};
    }

    void put(std::size_t place, const entry& e) noexcept {
        entries_[place] = e;
        e.owner->place = place;
    }

    void replace(std::size_t hole, const entry& e) noexcept {
        if (hole > 0 && before(e, entries_[(hole - 1) / 4])) {
            sift_up(hole, e);
        } else {
            sift_down(hole, e);
        }
    }

    void sift_up(std::size_t hole, const entry e) noexcept {
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 4;
            if (!before(e, entries_[parent])) break;
            put(hole, entries_[parent]);
            hole = parent;
        }
        put(hole, e);
    }

    void sift_down(std::size_t hole, const entry e) noexcept {
        for (;;) {
            const std::size_t child = first_child(hole);
            if (child == absent || !before(entries_[child], e)) break;
            put(hole, entries_[child]);
            hole = child;
        }
        put(hole, e);
    }

    /// Of up to four children the one that comes first.
    std::size_t first_child(std::size_t parent) const noexcept {
        const std::size_t begin = 4 * parent + 1;
        if (begin >= entries_.size()) return absent;
        const std::size_t end = begin + 4 < entries_.size() ? begin + 4 : entries_.size();
        std::size_t best = begin;
        for (std::size_t i = begin + 1; i < end; ++i) {
            if (before(entries_[i], entries_[best])) best = i;
        }
        return best;
    }

    std::vector<entry> entries_;
    std::uint64_t next_sequence_ = 0;
};

}  // namespace bench
