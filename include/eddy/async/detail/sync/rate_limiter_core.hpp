// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/waiter.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/timer.hpp>

#include <cstddef>
#include <optional>
#include <system_error>

namespace eddy {

/// The limit of a rate_limiter: `tokens` arrive in each period `per`.
struct rate_limit {
    std::size_t tokens = 1;
    duration per = std::chrono::seconds(1);
    /// Number of tokens that may be saved up and taken at once.
    std::size_t burst = 1;
};

namespace detail {

class rate_limiter_core;

/// A waiter for tokens. The first in the list has a timer for the time when its tokens are there,
/// takes them on its own loop, and then posts the `turn_` of the next one, because only the thread
/// of a waiter's loop touches its timer. The timers of the others are never due: they only let a
/// loop that is drained stop its waiters.
class rate_waiter : public waiter {
public:
    rate_waiter(callback on_complete, rate_limiter_core& core, std::size_t n) noexcept
        : waiter(on_complete), wanted(n), core_(&core), turn_(&on_turn, &on_turn) {}

    const std::size_t wanted;
    std::error_code error;  ///< if the state is `closed`

private:
    struct owned_timer : timer {
        owned_timer(loop& home, rate_waiter* waiter);
        rate_waiter* owner;
    };
    EDDY_API static void on_turn(entry& e) noexcept;
    static void on_due(timer& t) noexcept;
    static void on_cancel(timer& t) noexcept;
    bool make_timer() noexcept;
    void calm() noexcept;

    rate_limiter_core* core_;
    entry turn_;
    bool turn_posted_ = false;  ///< under the lock; turn_ belongs to the loop
    std::optional<owned_timer> timer_;

    friend class rate_limiter_core;
};

/// A bucket of tokens, represented by the time at which it is full again.
class rate_limiter_core : public wait_core {
public:
    EDDY_API explicit rate_limiter_core(rate_limit limit) noexcept;

    EDDY_API bool try_acquire(std::size_t n) noexcept;

    EDDY_API bool enter(rate_waiter& node, bool may_wait) noexcept;
    EDDY_API void stop(rate_waiter& node) noexcept;
    EDDY_API void take_back(rate_waiter& node) noexcept;
    EDDY_API void leave(rate_waiter& node) noexcept;

private:
    bool take(std::size_t n, time_point now) noexcept;
    time_point ready_at(std::size_t n) const noexcept;
    void next_turn() noexcept;
    void turn_came(rate_waiter& node) noexcept;
    void have_turn(rate_waiter& node) noexcept;
    void give_up(rate_waiter& node) noexcept;

    const std::size_t burst_;
    const duration cost_;  ///< of one token
    time_point full_at_ = time_point::min();
    wait_list waiting_;

    friend class rate_waiter;
};

}  // namespace detail
}  // namespace eddy
