// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"
#include "kernel/thread.hpp"

#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <cstdint>

namespace eddy {

/// Looks, without waiting, again and again. True: there is something to do, or it is `until`; the
/// loop need not wait. While it spins it is awake, so that whoever posts makes no call.
bool loop::spin(time_point until) {
    const time_point begin = clock::now();
    if (begin >= until) {
        ask_kernel(time_point::min());
        return true;
    }
    const time_point end = std::min(until, saturating_add(begin, options_.spin));
    const bool audits = spin_gauge_.audits();
    const std::uint64_t pushed_away_before = audits ? kernel::preemptions() : 0;
    // Then turn() has to set the timer that ends the pause.
    const auto must_pause = [this]() noexcept {
        return engine_->backing_off() && !back_off_.armed();
    };
    inbox_.rouse();
    ask_kernel(time_point::min());
    if (!nothing_to_run() || must_pause()) {
        return true;  // it was there already: this says nothing about spinning
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
