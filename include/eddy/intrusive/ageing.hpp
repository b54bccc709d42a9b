// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/intrusive/ready_queue.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace eddy {

/// Pops like the ready queue, but lets no priority starve: an operation that would miss the limit
/// at the head of its level runs before all other levels.
///
/// The head of a level runs within `limit` pops of becoming the head, however busy other levels
/// are. With n operations in front of it, an operation runs within (n + 1) times `limit` pops.
/// Commands make other operations ready, so they run before levels that take turns, and popping a
/// command counts as no pop. Each pop scans the levels in use; a ready queue without ageing pays
/// nothing.
class ageing {
public:
    /// Raises a limit below the number of levels to that number: all levels could be due at once.
    explicit ageing(std::uint64_t limit) noexcept
        : limit_(limit > priority_count ? limit : priority_count) {}

    /// Precondition: not empty.
    operation& pop(ready_queue& ready) noexcept {
        const std::uint64_t used = ready.levels_used();
        for (std::uint64_t fresh = used & ~seen_; fresh != 0; fresh &= fresh - 1) {
            since_[level_of(fresh)] = pops_;
        }
        const bool commanded = ready.front().is_command_;
        const priority_level level = commanded ? level_of(used) : choose(used);
        pops_ += commanded ? 0U : 1U;
        since_[level] = pops_;
        operation& op = ready.pop(level);
        seen_ = ready.levels_used();
        return op;
    }

private:
    static priority_level level_of(std::uint64_t levels) noexcept {
        return static_cast<priority_level>(std::countr_zero(levels));
    }

    priority_level choose(std::uint64_t used) const noexcept {
        priority_level oldest = level_of(used);
        for (std::uint64_t rest = used; rest != 0; rest &= rest - 1) {
            if (since_[level_of(rest)] < since_[oldest]) {
                oldest = level_of(rest);
            }
        }
        // All used levels may be due together, so promotion begins that many pops earlier.
        const auto together = static_cast<std::uint64_t>(std::popcount(used));
        return pops_ - since_[oldest] + together >= limit_ ? oldest : level_of(used);
    }

    std::uint64_t limit_;
    std::uint64_t pops_ = 0;
    std::uint64_t seen_ = 0;  ///< the levels that were not empty after the last pop
    std::array<std::uint64_t, priority_count> since_{};  ///< when the level's head became its head
};

}  // namespace eddy
