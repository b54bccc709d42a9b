// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy::detail {

/// Runs one round after another without growing the stack. A round may end inside its start or
/// later, on this thread or another.
///
///     starting --its start returned--> waiting: whoever ends it goes on
///     starting --it ended--> over: whoever started it goes on
class rounds {
    enum class phase : std::uint8_t { starting, waiting, over };

public:
    /// Calls `start` until a round does not end inside it. `start` starts a round and returns true,
    /// or it completes the operation, after which this object may be gone, and returns false.
    template <class Start>
    void go_on(Start start) noexcept {
        do {
            phase_.store(phase::starting, std::memory_order_relaxed);
            if (!start()) return;
            // acq_rel: pairs with end(). The second of the two sees what the first did.
        } while (phase_.exchange(phase::waiting, std::memory_order_acq_rel) == phase::over);
    }
    /// Ends the current round. If this returns true, the caller must call go_on().
    [[nodiscard]] bool end() noexcept {
        // acquire: pairs with go_on(), which does not look at this round again. Most rounds end
        // later than that, and need no exchange.
        return phase_.load(std::memory_order_acquire) == phase::waiting ||
               phase_.exchange(phase::over, std::memory_order_acq_rel) == phase::waiting;
    }

private:
    std::atomic<phase> phase_ = phase::starting;
};

}  // namespace eddy::detail
