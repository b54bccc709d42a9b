#pragma once

#include <eddy/base/assert.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/entry.hpp>

#include <cstdint>

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
/// decides: whoever makes it takes the waiter out of the list, lets go of the lock and then
/// delivers. So a stop that comes later finds nothing to do, and what was granted arrives.
/// tests/model/waiter.pml is the model.
///
/// Lifetime: until `complete` is called, which may destroy it.
class waiter {
public:
    enum class state : std::uint8_t { idle, waiting, granted, closed, stopped };
    using callback = void (*)(waiter&) noexcept;

    explicit waiter(callback complete) noexcept
        : complete_(complete), entry_(&on_entry, &on_entry) {}
    waiter(waiter&&) = delete;

    /// Before enter(): it will be completed on the loop that this thread is running, if any.
    EDDY_API void remember_loop() noexcept;
    loop* home() const noexcept { return home_; }

    /// Under the lock of the primitive, or when it has been delivered.
    state how() const noexcept { return state_; }
    void set(state how) noexcept { state_ = how; }

    /// Calls `complete`: on the loop from which it waits, never inside this call; or here if there
    /// is none. Not under a lock.
    EDDY_API void deliver() noexcept;

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

/// First come, first served, with removal from anywhere.
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

    EDDY_API void push_back(waiter& node) noexcept;
    EDDY_API void erase(waiter& node) noexcept;
    waiter& pop_front() noexcept {
        waiter& node = *first_;
        erase(node);
        return node;
    }

    /// Moves one that is in this list to the end of `ready`, as `how`.
    void settle(waiter& node, waiter::state how, wait_list& ready) noexcept {
        erase(node);
        node.set(how);
        ready.push_back(node);
    }
    void settle_all(waiter::state how, wait_list& ready) noexcept {
        while (!empty()) settle(front(), how, ready);
    }
    /// What a request to stop does to `node`, which waits here or has not entered yet. False: it
    /// was decided before.
    bool stop(waiter& node, wait_list& ready) noexcept {
        if (node.how() == waiter::state::idle) node.set(waiter::state::stopped);
        if (node.how() != waiter::state::waiting) return false;
        settle(node, waiter::state::stopped, ready);
        return true;
    }
    void wait(waiter& node) noexcept {
        node.set(waiter::state::waiting);
        push_back(node);
    }

    /// Delivers all. Not under a lock: those without a loop complete inside this call.
    EDDY_API void deliver() noexcept;

private:
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

}  // namespace detail
}  // namespace eddy
