// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/acquire_wait.hpp>
#include <eddy/async/permit.hpp>

#include <utility>

namespace eddy {
EDDY_EX_BEGIN

/// A mutex that tasks await instead of blocking, and that they may hold across other waits.
///
///     async_mutex mutex;
///     {
///         auto guard = co_await mutex.lock();
///         co_await socket.write(message);
///     }
///
/// Waiters get the lock in order of arrival. A waiter on a loop's thread continues there, later,
/// never inside unlock(). A waiter without a loop completes inside unlock(), on the calling thread.
///
/// Thread: any; the lock belongs to its guard, not to a thread. Lifetime: until every lock() has
/// completed and every guard is gone.
class async_mutex {
public:
    /// Owns the lock until it is destroyed.
    class [[nodiscard]] guard : public permit {
    public:
        using permit::permit;
        void unlock() noexcept { release(); }
    };

    /// Completes with a guard.
    auto lock() noexcept { return detail::wait_sender(lock_wait{{&core_, 1}}); }
    /// Returns a guard that owns the lock, or an empty one if the lock is taken.
    guard try_lock() noexcept { return core_.try_acquire(1) ? guard(core_, 1) : guard(); }

private:
    struct lock_wait : detail::acquire_wait {
        using signatures = ex::completion_signatures<ex::set_value_t(guard), ex::set_stopped_t()>;
        template <class Receiver>
        void finish(node&, Receiver& receiver) noexcept {
            ex::set_value(static_cast<Receiver&&>(receiver), guard(*core, 1));
        }
    };

    detail::semaphore_core core_{1};
};

EDDY_EX_END
}  // namespace eddy
