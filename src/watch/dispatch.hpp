// SPDX-License-Identifier: Apache-2.0

// Defines watch::dispatch_as(), for the kinds of watches that call it.
#pragma once

#include <eddy/watch/watch.hpp>

namespace eddy {

/// Runs the callback and applies its reaction. The most common one, rearm, takes a short path.
template <class Kind>
inline void watch::dispatch_as(Kind& kind) noexcept {
    bool gone = false;
    gone_ = &gone;
    armed_ = false;
    const reaction wish = kind.call();
    if (gone) {
        EDDY_ASSERT(wish == reaction::destroyed,
                    "a callback has destroyed its watch and did not say so");
        return;
    }
    gone_ = nullptr;
    if (wish == reaction::rearm && !removing_) [[likely]] {
        armed_ = true;
        kind.start(arming::edge);
        return;
    }
    react(wish);
}

}  // namespace eddy
