// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/waiter.hpp>
#include <eddy/base/config.hpp>

#include <cstddef>

namespace eddy::detail {

struct semaphore_waiter : waiter {
    semaphore_waiter(callback on_complete, std::size_t n) noexcept
        : waiter(on_complete), wanted(n) {}
    const std::size_t wanted;
};

/// The state of a semaphore or mutex. A waiter for more permits than there are holds up later ones.
class semaphore_core : public wait_core {
public:
    explicit semaphore_core(std::size_t permits) noexcept : permits_(permits) {}

    EDDY_API bool try_acquire(std::size_t n) noexcept;
    EDDY_API void release(std::size_t n) noexcept;
    EDDY_API std::size_t available() const noexcept;

    EDDY_API bool enter(semaphore_waiter& node, bool may_wait) noexcept;
    EDDY_API void stop(semaphore_waiter& node) noexcept;
    EDDY_API void take_back(semaphore_waiter& node) noexcept;

private:
    bool take(std::size_t n) noexcept;
    void grant(wait_list& here) noexcept;

    std::size_t permits_;
    wait_list waiting_;
};

}  // namespace eddy::detail
