// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>

#include <cstdint>
#include <mutex>

namespace eddy {

class loop;

namespace detail {

/// A node that waits for a primitive: an event, permits, tokens, a place or an item of a channel.
///
///     idle --enter()--> granted or closed, at once
///     idle --enter()--> waiting, in the list of the primitive
///     waiting --the primitive--> granted or closed
///     idle, waiting --stop--> stopped
///
/// Every change is made under the lock of the primitive, and the first one out of `waiting`
/// decides: it takes the waiter out of the list and, still under the lock, posts it to its loop. A
/// later stop finds nothing to do, so a grant always arrives. The completion takes the lock once
/// more before it calls the receiver, which may destroy the primitive. The model is
/// tests/model/waiter.pml.
///
/// Lifetime: until `complete` is called, which may destroy the waiter, or until it is taken back.
class waiter {
public:
    enum class state : std::uint8_t { idle, waiting, granted, closed, stopped };
    using callback = void (*)(waiter&) noexcept;

    explicit waiter(callback on_complete) noexcept
        : complete_(on_complete), entry_(&on_entry, &on_entry) {}
    waiter(waiter&&) = delete;

    /// Makes the waiter complete on the loop that this thread runs, if any. Must precede enter().
    EDDY_API void remember_loop() noexcept;
    loop* home() const noexcept { return home_; }

    /// Returns the state. Precondition: the lock of the primitive is held, or the wait is decided.
    state how() const noexcept { return state_; }
    void set(state how) noexcept { state_ = how; }

    /// Calls the callback. Thread: that of its loop. Precondition: the lock is not held.
    void complete() noexcept { complete_(*this); }

private:
    /// Completes the waiter, even if its loop is drained or destroyed: a decision stands.
    EDDY_API static void on_entry(entry& e) noexcept;

    callback complete_;
    loop* home_ = nullptr;
    waiter* next_ = nullptr;
    waiter* previous_ = nullptr;
    state state_ = state::idle;
    entry entry_;

    friend class wait_list;
};

/// The waiters of a primitive, in order of arrival; any of them can be removed. All functions but
/// complete_all() need the lock of the primitive.
class wait_list {
public:
    wait_list() = default;
    wait_list(const wait_list&) = delete;
    wait_list& operator=(const wait_list&) = delete;
    ~wait_list() {
        EDDY_ASSERT(empty(),
                    "an event, mutex, semaphore, channel or rate limiter was destroyed while "
                    "someone waits for it: stop them and wait for them first");
    }

    bool empty() const noexcept { return first_ == nullptr; }
    waiter& front() const noexcept { return *first_; }

    void wait(waiter& node) noexcept {
        node.set(waiter::state::waiting);
        push_back(node);
    }
    /// Decides a wait in this list: posts `node`, or moves it to `here` if it has no loop.
    EDDY_API void settle(waiter& node, waiter::state how, wait_list& here) noexcept;
    void settle_all(waiter::state how, wait_list& here) noexcept {
        while (!empty()) settle(front(), how, here);
    }
    /// Stops `node`, which waits here or has not entered yet. Returns true if it has left the list,
    /// which may matter for the others; false if it was decided before, or did not wait.
    EDDY_API bool stop(waiter& node, wait_list& here) noexcept;
    /// Removes `node` from the list or its loop, because its operation is destroyed. Returns true
    /// if it was granted something that can go to another waiter now. Thread: that of its loop.
    EDDY_API bool take_back(waiter& node) noexcept;
    EDDY_API void erase(waiter& node) noexcept;

    /// Completes all waiters of this list, which have no loop. Precondition: the lock is not held.
    EDDY_API void complete_all() noexcept;

private:
    EDDY_API void push_back(waiter& node) noexcept;

    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

/// Base of the synchronization primitives.
class wait_core {
public:
    wait_core() = default;
    wait_core(const wait_core&) = delete;
    wait_core& operator=(const wait_core&) = delete;

    /// Called before a waiter completes. Waits until the thread that decided about it has left the
    /// lock: then the primitive may be destroyed.
    void leave(waiter&) noexcept { const std::lock_guard lock(mutex_); }

protected:
    ~wait_core() = default;

    /// Calls `change(wait_list& here)` under the lock, and then completes the waiters in `here`.
    template <class Change>
    bool locked(Change change) noexcept {
        wait_list here;
        bool result = false;
        {
            const std::lock_guard lock(mutex_);
            result = change(here);
        }
        here.complete_all();
        return result;
    }
    static bool decide(waiter& node, waiter::state how) noexcept {
        node.set(how);
        return true;
    }

    mutable std::mutex mutex_;
};

}  // namespace detail
}  // namespace eddy
