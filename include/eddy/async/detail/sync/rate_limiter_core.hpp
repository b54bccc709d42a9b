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

struct rate_limit {
    /// So many tokens come in ...
    std::size_t tokens = 1;
    /// ... this time.
    duration per = std::chrono::seconds(1);
    /// So many may be saved up, and taken at once.
    std::size_t burst = 1;
};

namespace detail {

class rate_limiter_core;

/// The first in the list waits with a timer for its tokens. It takes them itself, on its own loop,
/// and tells the next one by posting `turn`: only the thread of its loop touches its timer. Those
/// behind have a timer that is never due: a loop that is drained cancels it, and so stops them.
class rate_waiter : public waiter {
public:
    rate_waiter(callback on_complete, rate_limiter_core& core, std::size_t n) noexcept
        : waiter(on_complete), wanted(n), core_(&core), turn_(&on_turn, &on_turn) {}

    const std::size_t wanted;
    std::error_code error;  ///< if it is `closed`

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
    bool turn_posted_ = false;  ///< under the lock; turn_ itself is the loop's
    std::optional<owned_timer> timer_;

    friend class rate_limiter_core;
};

/// A bucket of tokens, as the time at which it is full again.
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
