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

/// Someone who waits for a primitive: for an event, a permit, a place or an item of a channel.
///
///     idle --enter()--> granted or closed, at once
///     idle --enter()--> waiting, in the list of the primitive
///     waiting --the primitive--> granted or closed
///     idle, waiting --stop--> stopped
///
/// Every change is made under the lock of the primitive, and the first that leads out of `waiting`
/// decides: whoever makes it takes the waiter out of the list and, still under the lock, posts it
/// to its loop. A stop that comes later finds nothing to do, and what was granted arrives. The
/// completion takes the lock once more before it calls anyone, because who is let go may destroy
/// the primitive. tests/model/waiter.pml is the model.
///
/// Lifetime: until `complete` is called, which may destroy it; or until it is taken back.
class waiter {
public:
    enum class state : std::uint8_t { idle, waiting, granted, closed, stopped };
    using callback = void (*)(waiter&) noexcept;

    explicit waiter(callback on_complete) noexcept
        : complete_(on_complete), entry_(&on_entry, &on_entry) {}
    waiter(waiter&&) = delete;

    /// Before enter(): it will be completed on the loop that this thread is running, if any.
    EDDY_API void remember_loop() noexcept;
    loop* home() const noexcept { return home_; }

    /// Under the lock of the primitive, or when it has been decided.
    state how() const noexcept { return state_; }
    void set(state how) noexcept { state_ = how; }

    /// Thread: of its loop. Not under a lock.
    void complete() noexcept { complete_(*this); }

private:
    /// A loop that is being drained or destroyed does not take away what has been decided.
    EDDY_API static void on_entry(entry& e) noexcept;

    callback complete_;
    loop* home_ = nullptr;
    waiter* next_ = nullptr;
    waiter* previous_ = nullptr;
    state state_ = state::idle;
    entry entry_;

    friend class wait_list;
};

/// First come, first served, with removal from anywhere. All under the lock of the primitive,
/// except complete_all().
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
    /// Decides about one that is in this list: posts it, or moves it to `here` if it has no loop.
    EDDY_API void settle(waiter& node, waiter::state how, wait_list& here) noexcept;
    void settle_all(waiter::state how, wait_list& here) noexcept {
        while (!empty()) settle(front(), how, here);
    }
    /// What a request to stop does to `node`, which waits here or has not entered yet. False: it
    /// was decided before, or nothing changes for the others.
    EDDY_API bool stop(waiter& node, wait_list& here) noexcept;
    /// Its operation is destroyed: takes it out, or back from its loop. True: it was granted
    /// something that somebody else may have now. Thread: of its loop.
    EDDY_API bool take_back(waiter& node) noexcept;
    EDDY_API void erase(waiter& node) noexcept;

    /// Completes those that have no loop, inside this call. Not under the lock.
    EDDY_API void complete_all() noexcept;

private:
    EDDY_API void push_back(waiter& node) noexcept;

    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

/// Base of the primitives.
class wait_core {
public:
    wait_core() = default;
    wait_core(const wait_core&) = delete;
    wait_core& operator=(const wait_core&) = delete;

    /// `node` is about to complete. Returns when those who decided about it have left: then the
    /// primitive may be destroyed.
    void leave(waiter&) noexcept { const std::lock_guard lock(mutex_); }

protected:
    ~wait_core() = default;

    /// Does `change(wait_list& here)` under the lock, and completes those without a loop after it.
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
