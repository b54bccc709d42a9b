// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy {

/// Estimates from the last spins, the newest counting most, if it pays to spin before a wait
/// blocks. Starts undecided, with one spin.
///
///     spins at every wait:     at least half of the spins paid, or the last one did
///     spins at one in 64:      otherwise, so that it notices when that changes
///
/// A thread that is pushed off its core during a spin finds what other threads did in the meantime,
/// and would believe that the spin paid. Asking the kernel about that costs a call, so it is asked
/// while the estimate is not good, and now and then otherwise: see audits().
class spin_gauge {
public:
    /// Called before a wait that may block. True: spin first.
    [[nodiscard]] bool wants() noexcept {
        if (score_ >= half || last_paid_) {
            return true;
        }
        // The spin stays due until one has proved something. A spin that finds at its first look
        // what was there before proves nothing, and every second one may be like that.
        const bool due = skipped_ + 1 >= probe_interval;
        skipped_ += due ? 0 : 1;
        return due;
    }

    /// True if the next spin must find out if the thread was pushed off its core.
    bool audits() const noexcept { return score_ <= half || unaudited_ + 1 >= audit_interval; }

    void found_something() noexcept {
        skipped_ = 0;
        unaudited_ = audits() ? 0 : unaudited_ + 1;
        last_paid_ = true;
        score_ += (full - score_) / weight;
    }
    void found_nothing() noexcept {
        skipped_ = 0;
        last_paid_ = false;
        score_ -= score_ / weight;
    }
    /// The spin found what would have come anyway. This counts for earlier unaudited spins too.
    void was_pushed_away() noexcept {
        skipped_ = 0;
        unaudited_ = 0;
        last_paid_ = false;
        score_ = score_ > half ? half : score_ - score_ / weight;
    }

private:
    static constexpr std::uint32_t full = 1U << 16;
    static constexpr std::uint32_t half = full / 2;
    static constexpr std::uint32_t weight = 8;
    static constexpr unsigned probe_interval = 64;
    static constexpr unsigned audit_interval = 16;

    std::uint32_t score_ = half;  ///< of `full`: the share of spins that pay
    bool last_paid_ = false;
    unsigned skipped_ = 0;    ///< waits since the last spin that proved something
    unsigned unaudited_ = 0;  ///< spins since the last audited one
};

}  // namespace eddy
