// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/exchange_if.hpp>
#include <eddy/pollset/closure.hpp>

#include <atomic>
#include <cstdint>

namespace eddy::detail {

/// What there is of one kind of event of a handle:
///
///     quiet   --arm()-->    waiting --event, end--> at rest
///     quiet   --event-->    latched --taken by an arming--> at rest
///     guarded: as quiet, but an arming has more to do under the domain's lock: the kernel is to be
///              asked for such events first, or the handle is shut down
///
/// At rest it is quiet or guarded. arm() is the one step that is made without that lock: all others
/// find a word that only arm() may have changed meanwhile, from quiet to waiting.
class poll_word {
public:
    /// False: ask again under the lock. Thread: any.
    bool arm(closure& c) noexcept {
        // release: what was written to the closure is there for whoever finds it
        return exchange_if(state_, quiet, reinterpret_cast<std::uintptr_t>(&c),
                           std::memory_order_release);
    }

    // With the lock held.

    /// What waits, or null.
    closure* waiting() const noexcept {
        const std::uintptr_t found = state_.load(std::memory_order_acquire);  // pairs with arm()
        return found > guarded ? reinterpret_cast<closure*>(found) : nullptr;
    }
    /// What waited, or null.
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
    /// An event: what waited for it; null if nobody did, and then it is latched.
    closure* happened() noexcept {
        // acquire: pairs with arm(), which may also come in between
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
    /// False if one waits already. Not for a word that is latched.
    bool arm_guarded(closure& c) noexcept {
        return exchange_if(state_, guarded, reinterpret_cast<std::uintptr_t>(&c),
                           std::memory_order_relaxed) ||
               arm(c);
    }
    /// Whether arming needs the lock when it is at rest.
    void guard(bool wanted) noexcept {
        guarded_ = wanted;
        exchange_if(state_, wanted ? quiet : guarded, at_rest(), std::memory_order_relaxed);
    }

private:
    static constexpr std::uintptr_t quiet = 0;
    static constexpr std::uintptr_t latched = 1;
    static constexpr std::uintptr_t guarded = 2;

    std::uintptr_t at_rest() const noexcept { return guarded_ ? guarded : quiet; }
    /// relaxed: who arms a quiet word has nothing to learn from it
    void rest() noexcept { state_.store(at_rest(), std::memory_order_relaxed); }

    std::atomic<std::uintptr_t> state_{guarded};
    bool guarded_ = true;
};

}  // namespace eddy::detail
