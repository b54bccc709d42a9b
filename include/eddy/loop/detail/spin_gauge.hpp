// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy {

/// Whether it pays to look again and again before a wait blocks: estimated from how the last spins
/// ended, the newest counting most. Starts undecided, with one spin.
///
///     spins at every wait:     at least half of the spins paid, or the last one did
///     spins at one in 64:      otherwise, so that it notices when that changes
///
/// A thread that others push off its core in the middle of a spin finds what they did meanwhile,
/// and would believe that it was worth it. Asking the kernel about that costs a call, so it is done
/// while the estimate is not good, and now and then: see audits().
class spin_gauge {
public:
    /// Before a wait that may block: whether to spin first.
    [[nodiscard]] bool wants() noexcept {
        if (score_ >= half || last_paid_) {
            return true;
        }
        // Stays due until a spin has said something: those that find at their first look what was
        // there already do not, and may be every second one.
        const bool due = skipped_ + 1 >= probe_interval;
        skipped_ += due ? 0 : 1;
        return due;
    }

    /// Whether it must be known of the next spin if the thread was pushed off its core.
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
    /// What was found would have come without a spin, too. That counts for all those before that
    /// nobody looked at.
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

    std::uint32_t score_ = half;  ///< of `full`: how many spins pay
    bool last_paid_ = false;
    unsigned skipped_ = 0;    ///< waits since the last spin that said something
    unsigned unaudited_ = 0;  ///< spins since the last one that was audited
};

}  // namespace eddy
