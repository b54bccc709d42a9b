// SPDX-License-Identifier: Apache-2.0

// Takes, grants and releases the permits of a semaphore or mutex.
#include <eddy/async/detail/sync/semaphore_core.hpp>

namespace eddy::detail {

/// Takes `n` permits, but does not overtake a waiter.
bool semaphore_core::take(std::size_t n) noexcept {
    if (permits_ < n || !waiting_.empty()) return false;
    permits_ -= n;
    return true;
}

void semaphore_core::grant(wait_list& here) noexcept {
    while (!waiting_.empty()) {
        auto& node = static_cast<semaphore_waiter&>(waiting_.front());
        if (permits_ < node.wanted) return;
        permits_ -= node.wanted;
        waiting_.settle(node, waiter::state::granted, here);
    }
}

bool semaphore_core::try_acquire(std::size_t n) noexcept {
    const std::lock_guard lock(mutex_);
    return take(n);
}

void semaphore_core::release(std::size_t n) noexcept {
    locked([&](wait_list& here) {
        EDDY_ASSERT(permits_ + n >= permits_, "more permits were released than a count can hold");
        permits_ += n;
        grant(here);
        return true;
    });
}

std::size_t semaphore_core::available() const noexcept {
    const std::lock_guard lock(mutex_);
    return permits_;
}

bool semaphore_core::enter(semaphore_waiter& node, bool may_wait) noexcept {
    const std::lock_guard lock(mutex_);
    if (node.how() == waiter::state::stopped) return true;
    if (take(node.wanted)) return decide(node, waiter::state::granted);
    if (may_wait) waiting_.wait(node);
    return false;
}

void semaphore_core::stop(semaphore_waiter& node) noexcept {
    locked([&](wait_list& here) {
        const bool left = waiting_.stop(node, here);
        if (left) grant(here);  // waiters behind it may want less
        return left;
    });
}

void semaphore_core::take_back(semaphore_waiter& node) noexcept {
    locked([&](wait_list& here) {
        if (waiting_.take_back(node)) permits_ += node.wanted;
        grant(here);
        return true;
    });
}

}  // namespace eddy::detail
