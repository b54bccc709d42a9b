// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace eddy::detail {

/// How many have not arrived yet, of those who end together. More may join until the last has
/// arrived. Thread: any.
class party_count {
public:
    explicit party_count(unsigned parties) noexcept : left_(parties) {}

    /// False: all have arrived.
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
    /// True: this was the last one.
    [[nodiscard]] bool arrive() noexcept {
        // acq_rel: the last one sees what all the others stored.
        return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

private:
    std::atomic<unsigned> left_;
};

}  // namespace eddy::detail
