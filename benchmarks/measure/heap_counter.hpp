// SPDX-License-Identifier: Apache-2.0

// The driver's side of the library that counts allocations.
#pragma once

#include <vector>

#include "common/unique_fd.hpp"
#include "measure/command.hpp"
#include "preload/counters.hpp"

namespace bench {

/// Counts what one child allocates, from outside.
class heap_counter {
public:
    heap_counter();
    heap_counter(const heap_counter&) = delete;
    heap_counter& operator=(const heap_counter&) = delete;
    ~heap_counter();

    /// The parts that must be added to the command of a child; good for one child.
    command preload() const;

    std::uint64_t allocations() const noexcept { return shared_->allocations.load(); }
    std::int64_t live_bytes() const noexcept { return shared_->live_bytes.load(); }
    /// How many there are of each size, in units of `piece_unit`.
    std::vector<std::int64_t> live_pieces() const {
        return {shared_->live_pieces.begin(), shared_->live_pieces.end()};
    }

private:
    unique_fd memory_;
    heap_counters* shared_;
};

}  // namespace bench
