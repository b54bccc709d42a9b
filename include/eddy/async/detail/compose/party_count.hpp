// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace eddy::detail {

/// Counts the parties that end together and have not arrived yet. More may join until the last one
/// has arrived. Thread: any.
class party_count {
public:
    explicit party_count(unsigned parties) noexcept : left_(parties) {}

    /// Adds a party. Returns false if all have arrived.
    [[nodiscard]] bool join() noexcept {
        unsigned seen = left_.load(std::memory_order_relaxed);
        do {
            if (seen == 0) {
                return false;
            }
            // relaxed: nothing is read that others wrote; arrive() publishes.
        } while (!left_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed));
        return true;
    }
    /// Returns true for the last party.
    [[nodiscard]] bool arrive() noexcept {
        // acq_rel: the last party sees what all the others stored.
        return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

private:
    std::atomic<unsigned> left_;
};

}  // namespace eddy::detail
