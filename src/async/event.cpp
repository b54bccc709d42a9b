// SPDX-License-Identifier: Apache-2.0

// Sets and resets an event, and releases its waiters.
#include <eddy/async/detail/sync/event_core.hpp>

namespace eddy::detail {

void event_core::set() noexcept {
    locked([this](wait_list& here) {
        set_ = true;
        waiting_.settle_all(waiter::state::granted, here);
        return true;
    });
}

void event_core::reset() noexcept {
    const std::lock_guard lock(mutex_);
    set_ = false;
}

bool event_core::is_set() const noexcept {
    const std::lock_guard lock(mutex_);
    return set_;
}

bool event_core::enter(waiter& node, bool may_wait) noexcept {
    const std::lock_guard lock(mutex_);
    if (node.how() == waiter::state::stopped) return true;
    if (set_) return decide(node, waiter::state::granted);
    if (may_wait) waiting_.wait(node);
    return false;
}

void event_core::stop(waiter& node) noexcept {
    locked([&](wait_list& here) { return waiting_.stop(node, here); });
}

void event_core::take_back(waiter& node) noexcept {
    const std::lock_guard lock(mutex_);
    waiting_.take_back(node);
}

}  // namespace eddy::detail
