// SPDX-License-Identifier: Apache-2.0

// Keeps the lists of waiters of synchronization primitives, and completes the waiters.
#include <eddy/async/detail/sync/waiter.hpp>

#include <eddy/base/detail/member.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy::detail {

void waiter::remember_loop() noexcept { home_ = loop::current(); }

void waiter::on_entry(entry& e) noexcept { owner_of<&waiter::entry_>(e).complete(); }

void wait_list::push_back(waiter& node) noexcept {
    node.next_ = nullptr;
    node.previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &node;
    last_ = &node;
}

void wait_list::erase(waiter& node) noexcept {
    (node.previous_ != nullptr ? node.previous_->next_ : first_) = node.next_;
    (node.next_ != nullptr ? node.next_->previous_ : last_) = node.previous_;
}

void wait_list::settle(waiter& node, waiter::state how, wait_list& here) noexcept {
    erase(node);
    node.set(how);
    if (node.home_ != nullptr) {
        node.home_->post(node.entry_);
    } else {
        here.push_back(node);
    }
}

bool wait_list::stop(waiter& node, wait_list& here) noexcept {
    if (node.how() == waiter::state::idle) node.set(waiter::state::stopped);
    if (node.how() != waiter::state::waiting) return false;
    settle(node, waiter::state::stopped, here);
    return true;
}

bool wait_list::take_back(waiter& node) noexcept {
    if (node.how() == waiter::state::waiting) {
        erase(node);
        return false;
    }
    if (node.home_ != nullptr) node.home_->disarm(node.entry_);
    return node.how() == waiter::state::granted;
}

void wait_list::complete_all() noexcept {
    while (!empty()) {
        waiter& node = front();
        erase(node);
        node.complete();
    }
}

}  // namespace eddy::detail
