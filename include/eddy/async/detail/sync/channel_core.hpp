// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/sync/ring.hpp>
#include <eddy/async/detail/sync/waiter.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace eddy::detail {

/// A send that waits. The item stays in its operation until someone takes it.
template <class T>
struct send_waiter : waiter {
    send_waiter(callback on_complete, T& what) noexcept : waiter(on_complete), item(&what) {}
    T* item;
};

template <class T>
struct receive_waiter : waiter {
    using waiter::waiter;
    std::optional<T> item;
};

/// The state of a channel. Under the lock, it is always true that senders wait only while the ring
/// is full, and that receivers wait only while the ring is empty and no sender waits.
template <class T, class Allocator>
class channel_core : public wait_core {
public:
    channel_core(std::size_t capacity, const Allocator& allocator) : items_(capacity, allocator) {}

    bool try_send(T&& item) noexcept {
        return this->locked([&](wait_list& here) { return !closed_ && put(item, here); });
    }
    std::optional<T> try_receive() noexcept {
        std::optional<T> item;
        this->locked([&](wait_list& here) { return take(item, here); });
        return item;
    }
    void close() noexcept {
        this->locked([&](wait_list& here) {
            closed_ = true;
            senders_.settle_all(waiter::state::closed, here);
            receivers_.settle_all(waiter::state::closed, here);
            return true;
        });
    }
    bool closed() const noexcept {
        const std::lock_guard lock(mutex_);
        return closed_;
    }
    std::size_t size() const noexcept {
        const std::lock_guard lock(mutex_);
        return items_.size();
    }
    std::size_t capacity() const noexcept { return items_.capacity(); }

    bool enter(send_waiter<T>& node, bool may_wait) noexcept {
        return this->locked([&](wait_list& here) {
            if (node.how() == waiter::state::stopped) return true;
            if (closed_) return this->decide(node, waiter::state::closed);
            if (put(*node.item, here)) return this->decide(node, waiter::state::granted);
            if (may_wait) senders_.wait(node);
            return false;
        });
    }
    bool enter(receive_waiter<T>& node, bool may_wait) noexcept {
        return this->locked([&](wait_list& here) {
            if (node.how() == waiter::state::stopped) return true;
            if (take(node.item, here)) return this->decide(node, waiter::state::granted);
            if (closed_) return this->decide(node, waiter::state::closed);
            if (may_wait) receivers_.wait(node);
            return false;
        });
    }
    void stop(send_waiter<T>& node) noexcept {
        this->locked([&](wait_list& here) { return senders_.stop(node, here); });
    }
    void stop(receive_waiter<T>& node) noexcept {
        this->locked([&](wait_list& here) { return receivers_.stop(node, here); });
    }
    void take_back(send_waiter<T>& node) noexcept {
        const std::lock_guard lock(mutex_);
        senders_.take_back(node);
    }
    /// Passes a granted item to the next receiver, or puts it back in front of the ring. If its
    /// place was taken since, the item is destroyed with the operation.
    void take_back(receive_waiter<T>& node) noexcept {
        this->locked([&](wait_list& here) {
            if (!receivers_.take_back(node)) return false;
            if (!receivers_.empty()) return put(*node.item, here);
            if (!items_.full()) items_.push_front(std::move(*node.item));
            return true;
        });
    }

private:
    bool put(T& item, wait_list& here) noexcept {
        if (!receivers_.empty()) {
            auto& receiver = static_cast<receive_waiter<T>&>(receivers_.front());
            receiver.item.emplace(std::move(item));
            receivers_.settle(receiver, waiter::state::granted, here);
            return true;
        }
        if (items_.full()) return false;
        items_.push(std::move(item));
        return true;
    }
    bool take(std::optional<T>& to, wait_list& here) noexcept {
        auto* const sender =
            senders_.empty() ? nullptr : &static_cast<send_waiter<T>&>(senders_.front());
        if (!items_.empty()) {
            to.emplace(std::move(items_.front()));
            items_.pop();
            if (sender != nullptr) items_.push(std::move(*sender->item));
        } else if (sender != nullptr) {
            to.emplace(std::move(*sender->item));
        } else {
            return false;
        }
        if (sender != nullptr) senders_.settle(*sender, waiter::state::granted, here);
        return true;
    }

    bool closed_ = false;
    ring<T, Allocator> items_;
    wait_list senders_;
    wait_list receivers_;
};

}  // namespace eddy::detail
