// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/rate_limiter_core.hpp>
#include <eddy/async/detail/sync/wait_sender.hpp>

#include <cstddef>
#include <system_error>

namespace eddy {
namespace detail {
EDDY_EX_BEGIN

struct rate_wait {
    struct node : rate_waiter {
        node(callback on_complete, rate_wait& wait) noexcept
            : rate_waiter(on_complete, *wait.core, wait.wanted) {}
    };
    using signatures =
        ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::error_code),
                                  ex::set_stopped_t()>;

    template <class Receiver>
    void finish(node& n, Receiver& receiver) noexcept {
        if (n.how() == waiter::state::closed) {
            ex::set_error(static_cast<Receiver&&>(receiver), std::error_code(n.error));
        } else {
            ex::set_value(static_cast<Receiver&&>(receiver));
        }
    }

    rate_limiter_core* core;
    std::size_t wanted;
};

EDDY_EX_END
}  // namespace detail

EDDY_EX_BEGIN

/// Limits a rate with a token bucket, which starts full. After a pause, a burst passes at once.
///
///     rate_limiter requests({.tokens = 100, .per = 1s, .burst = 10});
///     co_await requests.acquire();
///
/// Waiters are served in order of arrival: none overtakes an earlier one, not even for fewer
/// tokens. A waiter uses a timer of the loop on which it was started, and continues there; having
/// to wait outside any loop is misuse. A stopped wait has taken no tokens. A loop that is drained
/// stops its waits.
///
/// Thread: any. Lifetime: until every wait has completed.
class rate_limiter {
public:
    explicit rate_limiter(rate_limit limit) noexcept : core_(limit) {}

    /// Completes without a value when it has taken `n` tokens. Errors: invalid_argument if `n` is
    /// more than the burst, not_enough_memory if there is no memory for a timer.
    auto acquire(std::size_t n = 1) noexcept {
        return detail::wait_sender(detail::rate_wait{&core_, n});
    }
    [[nodiscard]] bool try_acquire(std::size_t n = 1) noexcept { return core_.try_acquire(n); }

private:
    detail::rate_limiter_core core_;
};

EDDY_EX_END
}  // namespace eddy
