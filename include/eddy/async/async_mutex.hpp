// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/acquire_wait.hpp>
#include <eddy/async/permit.hpp>

#include <utility>

namespace eddy {
EDDY_EX_BEGIN

/// A lock that is awaited instead of blocking, and that may be held across other waits.
///
///     async_mutex mutex;
///     {
///         auto guard = co_await mutex.lock();
///         co_await socket.write(message);
///     }
///
/// First come, first served. Thread: any; it belongs to its guard and not to a thread. Who waits on
/// a loop's thread goes on there, later, never inside unlock(); who waits without a loop completes
/// inside unlock(), on its thread. Lifetime: until every lock() has completed and every guard is
/// gone.
class async_mutex {
public:
    /// Holds the lock until it is destroyed.
    class [[nodiscard]] guard : public permit {
    public:
        using permit::permit;
        void unlock() noexcept { release(); }
    };

    /// Completes with a guard.
    auto lock() noexcept { return detail::wait_sender(lock_wait{{&core_, 1}}); }
    /// A guard that owns the lock, or nothing.
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
