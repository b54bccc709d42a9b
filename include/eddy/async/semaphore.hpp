// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/acquire_wait.hpp>
#include <eddy/async/permit.hpp>

#include <cstddef>

namespace eddy {
EDDY_EX_BEGIN

/// A counting semaphore, whose permits tasks await instead of blocking.
///
///     semaphore at_once(10);
///     auto permit = co_await at_once.hold();
///     co_await download(url);
///
/// Waiters are served in order of arrival: none overtakes an earlier one, not even for fewer
/// permits. A waiter on a loop's thread continues there, later, never inside release(). A waiter
/// without a loop completes inside release(), on the calling thread. A stopped wait has taken
/// nothing.
///
/// Thread: any. Lifetime: until every wait has completed.
class semaphore {
public:
    explicit semaphore(std::size_t permits) noexcept : core_(permits) {}

    /// Completes with a permit, which gives back `n` when it is destroyed.
    auto hold(std::size_t n = 1) noexcept { return detail::wait_sender(hold_wait{{&core_, n}}); }
    /// Completes without a value when it has taken `n` permits, which release() gives back. A task
    /// that is stopped runs only its destructors: use hold() there.
    auto acquire(std::size_t n = 1) noexcept {
        return detail::wait_sender(detail::acquire_wait{&core_, n});
    }
    [[nodiscard]] bool try_acquire(std::size_t n = 1) noexcept { return core_.try_acquire(n); }
    void release(std::size_t n = 1) noexcept { core_.release(n); }
    std::size_t available() const noexcept { return core_.available(); }

private:
    struct hold_wait : detail::acquire_wait {
        using signatures = ex::completion_signatures<ex::set_value_t(permit), ex::set_stopped_t()>;
        template <class Receiver>
        void finish(node& n, Receiver& receiver) noexcept {
            ex::set_value(static_cast<Receiver&&>(receiver), permit(*core, n.wanted));
        }
    };

    detail::semaphore_core core_;
};

EDDY_EX_END
}  // namespace eddy
