#pragma once

#include <eddy/async/detail/acquire_wait.hpp>

#include <cstddef>

namespace eddy {
EDDY_EX_BEGIN

/// A number of permits.
///
///     semaphore at_once(10);
///     co_await at_once.acquire();
///     co_await download(url);
///     at_once.release();
///
/// First come, first served: nobody overtakes one who waits, not even for fewer permits.
/// Thread: any. Who waits on a loop's thread goes on there, later, never inside release(); who
/// waits without a loop completes inside release(), on its thread. A wait that is stopped has taken
/// nothing. Lifetime: until every wait has completed.
class semaphore {
public:
    explicit semaphore(std::size_t permits) noexcept : core_(permits) {}

    /// Completes with nothing when it has `n` permits.
    auto acquire(std::size_t n = 1) noexcept {
        return detail::wait_sender(detail::acquire_wait{&core_, n});
    }
    [[nodiscard]] bool try_acquire(std::size_t n = 1) noexcept { return core_.try_acquire(n); }
    void release(std::size_t n = 1) noexcept { core_.release(n); }
    std::size_t available() const noexcept { return core_.available(); }

private:
    detail::semaphore_core core_;
};

EDDY_EX_END
}  // namespace eddy
