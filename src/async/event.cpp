#include <eddy/async/event.hpp>

namespace eddy::detail {

void event_core::set() noexcept {
    wait_list ready;
    {
        const std::lock_guard lock(mutex_);
        set_ = true;
        waiting_.settle_all(waiter::state::granted, ready);
    }
    ready.deliver();
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
    if (set_) {
        node.set(waiter::state::granted);
        return true;
    }
    if (may_wait) waiting_.wait(node);
    return false;
}

void event_core::stop(waiter& node) noexcept {
    wait_list ready;
    {
        const std::lock_guard lock(mutex_);
        waiting_.stop(node, ready);
    }
    ready.deliver();
}

}  // namespace eddy::detail
