#pragma once

#include <eddy/intrusive/operation_list.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace eddy {

/// What can run now, lowest priority number first, first come, first served within one. Thread:
/// one.
class ready_queue {
public:
    bool empty() const noexcept { return levels_used_ == 0; }
    static bool contains(const operation& op) noexcept { return op.queued_; }

    void push(operation& op) noexcept {
        levels_[op.priority_].push_back(op);
        levels_used_ |= bit(op.priority_);
    }

    /// All of `ops`, behind what is here. Precondition: there are some, all with that priority.
    void push(operation_list&& ops, priority_level priority) noexcept {
        levels_[priority].append(std::move(ops));
        levels_used_ |= bit(priority);
    }

    /// What pop() would take, or null.
    const operation* front() const noexcept {
        return empty() ? nullptr
                       : levels_[static_cast<std::size_t>(std::countr_zero(levels_used_))].front();
    }

    /// Precondition: not empty.
    operation& pop() noexcept {
        return pop(static_cast<priority_level>(std::countr_zero(levels_used_)));
    }

    /// A bit for each level that has something.
    std::uint64_t levels_used() const noexcept { return levels_used_; }

    /// The first of that level. Precondition: there is one.
    operation& pop(priority_level level) noexcept {
        operation& op = levels_[level].pop_front();
        if (levels_[level].empty()) {
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

    /// For an operation that is in no queue.
    static void give_priority(operation& op, priority_level priority) noexcept {
        op.priority_ = priority;
    }

    /// Gives `op` another priority, behind all others that have it. `here`: it is in this queue.
    void move(operation& op, priority_level priority, bool here) noexcept {
        if (here) {
            erase(op);
        }
        op.priority_ = priority;
        if (here) {
            push(op);
        }
    }

    /// Calls `visit(operation&)` for each, in the order in which they would run.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const operation_list& level : levels_) {
            for (operation* op = level.front(); op != nullptr; op = operation_list::next(*op)) {
                visit(*op);
            }
        }
    }

private:
    static constexpr std::uint64_t bit(priority_level level) noexcept {
        return std::uint64_t{1} << level;
    }

    std::uint64_t levels_used_ = 0;
    std::array<operation_list, priority_count> levels_{};
};

}  // namespace eddy
