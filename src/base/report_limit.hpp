// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <atomic>

namespace eddy {

/// Admits a burst of lines, and then one line per interval.
class report_limit {
public:
    static constexpr int burst = 10;
    static constexpr duration interval = std::chrono::seconds(1);

    /// True if a line may be printed now. False counts the line as left out.
    /// Thread: any.
    bool admit(time_point now) noexcept {
        const auto time = now.time_since_epoch().count();
        // relaxed: only the numbers themselves travel between threads.
        auto due = due_.load(std::memory_order_relaxed);
        for (;;) {
            const auto from = due > time ? due : time;
            if (from - time > (burst - 1) * interval.count()) {
                left_out_.fetch_add(1, std::memory_order_relaxed);
                return false;
            }
            if (due_.compare_exchange_weak(due, from + interval.count(),
                                           std::memory_order_relaxed)) {
                return true;
            }
        }
    }

    /// Returns the number of lines left out since the last call.
    unsigned long take_left_out() noexcept {
        return left_out_.exchange(0, std::memory_order_relaxed);
    }

private:
    /// The time at which a full burst is available again, in ticks of the clock.
    std::atomic<duration::rep> due_{0};
    std::atomic<unsigned long> left_out_{0};
};

}  // namespace eddy
