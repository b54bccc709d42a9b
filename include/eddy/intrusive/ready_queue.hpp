// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/operation_list.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace eddy {

/// Operations that can run now: lowest priority number first, in order of arrival within a
/// priority. Thread: one.
class ready_queue {
public:
    bool empty() const noexcept { return levels_used_ == 0; }
    static bool contains(const operation& op) noexcept { return op.queued_; }

    void push(operation& op) noexcept {
        if (levels_[op.priority_].push_back(op)) {
            levels_used_ |= bit(op.priority_);
        }
    }

    /// Adds all of `ops` at the end. Precondition: `ops` is not empty, and all have that priority.
    void push(operation_list&& ops, priority_level priority) noexcept {
        levels_[priority].append(std::move(ops));
        levels_used_ |= bit(priority);
    }

    /// The operation that pop() would take. Precondition: not empty.
    const operation& front() const noexcept {
        return *levels_[index(std::countr_zero(levels_used_))].front();
    }

    /// Precondition: not empty.
    operation& pop() noexcept { return pop(std::countr_zero(levels_used_)); }

    /// The level that pop() takes from, found once. While is_first() is true, first_level::pop()
    /// takes what ready_queue::pop() would take, without searching for the level.
    class first_level {
    public:
        /// Precondition: not empty.
        explicit first_level(ready_queue& queue) noexcept
            : queue_(queue),
              level_(queue.levels_[index(std::countr_zero(queue.levels_used_))]),
              bit_(queue.levels_used_ & -queue.levels_used_),
              up_to_here_(queue.levels_used_ ^ (queue.levels_used_ - 1)) {}

        bool is_first() const noexcept { return (queue_.levels_used_ & up_to_here_) == bit_; }

        /// Precondition: is_first().
        operation& pop() noexcept {
            operation& op = level_.pop_front();
            if (level_.empty()) {
                queue_.levels_used_ &= ~bit_;
            }
            return op;
        }

    private:
        ready_queue& queue_;
        operation_list& level_;
        std::uint64_t bit_;
        std::uint64_t up_to_here_;
    };

    /// One bit per level, set if the level is not empty.
    std::uint64_t levels_used() const noexcept { return levels_used_; }

    /// Takes the first operation of `level`. Precondition: the level is not empty.
    operation& pop(int level) noexcept {
        operation& op = levels_[index(level)].pop_front();
        if (levels_[index(level)].empty()) {
            levels_used_ &= ~bit(level);
        }
        return op;
    }

    /// Precondition: `op` is in this queue, with the priority that it was pushed with.
    void erase(operation& op) noexcept {
        levels_[op.priority_].erase(op);
        if (levels_[op.priority_].empty()) {
            levels_used_ &= ~bit(op.priority_);
        }
    }

    /// Sets the priority. Precondition: `op` is in no queue.
    static void give_priority(operation& op, priority_level priority) noexcept {
        op.priority_ = priority;
    }

    /// Gives `op` another priority, behind all others of that priority. `here`: `op` is in this
    /// queue.
    void move(operation& op, priority_level priority, bool here) noexcept {
        if (here) {
            erase(op);
        }
        op.priority_ = priority;
        if (here) {
            push(op);
        }
    }

    /// Calls `visit(operation&)` for each operation, in the order in which they would run.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const operation_list& level : levels_) {
            level.for_each(visit);
        }
    }

private:
    static constexpr std::size_t index(int level) noexcept {
        return static_cast<std::size_t>(level);
    }
    static constexpr std::uint64_t bit(int level) noexcept { return std::uint64_t{1} << level; }

    std::uint64_t levels_used_ = 0;
    std::array<operation_list, priority_count> levels_{};
};

}  // namespace eddy
