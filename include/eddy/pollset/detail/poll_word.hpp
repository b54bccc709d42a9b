// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/exchange_if.hpp>
#include <eddy/pollset/closure.hpp>

#include <atomic>
#include <cstdint>

namespace eddy::detail {

/// The state of one kind of event of a handle:
///
///     quiet   --arm()-->    waiting --event, end--> at rest
///     quiet   --event-->    latched --taken by an arming--> at rest
///     guarded: as quiet, but an arming has more to do under the domain's lock: the kernel is to be
///              asked for such events first, or the handle is shut down
///
/// At rest a word is quiet or guarded. Only arm() works without that lock. While one of the other
/// functions runs, only arm() may change the word, from quiet to waiting.
class poll_word {
public:
    /// Makes `c` wait if the word is quiet. False: try again under the lock. Thread: any.
    bool arm(closure& c) noexcept {
        // release: pairs with waiting() and happened(), which see what was written to the closure
        return exchange_if(state_, quiet, reinterpret_cast<std::uintptr_t>(&c),
                           std::memory_order_release);
    }

    // The domain's lock is held in all functions from here on.

    /// Returns the closure that waits, or null.
    closure* waiting() const noexcept {
        const std::uintptr_t found = state_.load(std::memory_order_acquire);  // pairs with arm()
        return found > guarded ? reinterpret_cast<closure*>(found) : nullptr;
    }
    /// Takes out and returns the closure that waits, or null.
    closure* take() noexcept {
        closure* const found = waiting();
        if (found != nullptr) {
            rest();
        }
        return found;
    }
    bool take_latched() noexcept {
        if (state_.load(std::memory_order_relaxed) != latched) {
            return false;
        }
        rest();
        return true;
    }
    /// Handles an event: takes out the closure that waits for it, or latches it and returns null.
    closure* happened() noexcept {
        // acquire: pairs with arm(), which may also run between load and exchange
        std::uintptr_t found = state_.load(std::memory_order_acquire);
        if (found == quiet &&
            state_.compare_exchange_strong(found, latched, std::memory_order_acquire)) {
            return nullptr;
        }
        if (found <= guarded) {
            state_.store(latched, std::memory_order_relaxed);
            return nullptr;
        }
        rest();
        return reinterpret_cast<closure*>(found);
    }
    /// Makes `c` wait in a word that is not latched. Returns false if a closure waits already.
    bool arm_guarded(closure& c) noexcept {
        return exchange_if(state_, guarded, reinterpret_cast<std::uintptr_t>(&c),
                           std::memory_order_relaxed) ||
               arm(c);
    }
    /// Decides whether arming needs the lock when the word is at rest.
    void guard(bool wanted) noexcept {
        guarded_ = wanted;
        exchange_if(state_, wanted ? quiet : guarded, at_rest(), std::memory_order_relaxed);
    }

private:
    static constexpr std::uintptr_t quiet = 0;
    static constexpr std::uintptr_t latched = 1;
    static constexpr std::uintptr_t guarded = 2;

    std::uintptr_t at_rest() const noexcept { return guarded_ ? guarded : quiet; }
    /// relaxed: a thread that arms a quiet word need not see anything that was written before.
    void rest() noexcept { state_.store(at_rest(), std::memory_order_relaxed); }

    std::atomic<std::uintptr_t> state_{guarded};
    bool guarded_ = true;
};

}  // namespace eddy::detail
