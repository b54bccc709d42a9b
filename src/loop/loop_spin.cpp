// SPDX-License-Identifier: Apache-2.0

// Spins: looks for something to do again and again before a wait blocks.
#include "engine/engine.hpp"
#include "kernel/thread.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <cstdint>

namespace eddy {

/// Looks again and again without waiting. True: there is something to do, or `until` has come; the
/// loop need not wait. A spinning loop counts as awake, so that posts make no call.
bool loop::spin(time_point until) {
    const time_point begin = clock::now();
    if (begin >= until) {
        ask_kernel(time_point::min());
        return true;
    }
    const time_point end = std::min(until, saturating_add(begin, options_.spin));
    const bool audits = spin_gauge_.audits();
    const std::uint64_t pushed_away_before = audits ? kernel::preemptions() : 0;
    // True if turn() has to set the timer that ends a pause.
    const auto must_pause = [this]() noexcept {
        return engine_->backing_off() && !back_off_.armed();
    };
    inbox_.rouse();
    ask_kernel(time_point::min());
    if (!nothing_to_run() || must_pause()) {
        return true;  // it was there before, which proves nothing about spinning
    }
    time_point now = begin;
    while (nothing_to_run() && !must_pause() && now < end) {
        ask_kernel(time_point::min());
        now = clock::now();
    }
    if (nothing_to_run()) {
        spin_gauge_.found_nothing();
        ++counters_.spins_missed;
        return now >= until || must_pause();
    }
    if (audits && kernel::preemptions() != pushed_away_before) {
        spin_gauge_.was_pushed_away();
        ++counters_.spins_missed;
    } else {
        spin_gauge_.found_something();
        ++counters_.spins_paid;
    }
    return true;
}

}  // namespace eddy
