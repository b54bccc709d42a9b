// SPDX-License-Identifier: Apache-2.0

// Calls the handler of a pollset_watch for each event of its handle. Removal needs no protocol of
// its own: the handler runs inside a closure of the handle, and an orphaned handle is done when the
// last of these has returned.
#include <eddy/pollset/pollset_watch.hpp>

#include "pollset/strategies/every_event.hpp"

namespace eddy {

pollset_watch::pollset_watch(pollset& set, unique_fd fd, interest wanted,
                             pollset_watch_options options)
    : set_(set),
      handle_(detail::poll_core::of(set), std::move(fd), {.priority = options.priority}),
      removal_(*this),
      directions_{direction(*this, poll_event_kind::read),
                  direction(*this, poll_event_kind::write)},
      concurrent_(options.concurrent) {
    EDDY_ASSERT(any(wanted & (interest::readable | interest::writable)),
                "a pollset_watch watches for reading, writing or both");
    directions_[0].wanted = any(wanted & interest::readable);
    directions_[1].wanted = any(wanted & interest::writable);
    if (auto error = set.add(handle_)) {
        throw std::system_error(error, "pollset_watch");
    }
}

pollset_watch::~pollset_watch() = default;

// In a forked child, a thread that this process does not have may hold the lock.
bool pollset_watch::forked() const noexcept { return detail::poll_core::of(handle_).forked(); }

void pollset_watch::rearm(bool exhausted) noexcept {
    if (forked()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (removing_) {
        return;
    }
    armed_ = true;
    if (!exhausted) {
        make_ready();
    }
    if (calls_ == 0 || concurrent_) {
        wait();
    }
}

void pollset_watch::disarm() noexcept {
    if (forked()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    armed_ = false;
    for (direction& d : directions_) {
        // A closure that is due already still runs, finds no watch armed, and puts its event back.
        if (d.waiting && handle_.cancel(d)) {
            d.waiting = false;
        }
    }
}

void pollset_watch::remove() noexcept {
    {
        const auto lock = forked() ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_);
        if (std::exchange(removing_, true)) {
            return;
        }
    }
    handle_.orphan(removal_);
}

/// Counts the handler as running until it ends, even by an exception or the end of the thread.
class pollset_watch::call {
public:
    explicit call(pollset_watch& owner) noexcept : owner_(owner) { ++owner_.calls_; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() {
        const std::lock_guard lock(owner_.mutex_);
        --owner_.calls_;
        if (owner_.armed_ && !owner_.removing_) {
            owner_.wait(detail::poll_core::here(owner_.set_));
        }
    }

private:
    pollset_watch& owner_;
};

void pollset_watch::happened(direction& d) {
    std::unique_lock lock(mutex_);
    d.waiting = false;
    if (removing_) {
        return;
    }
    if (!armed_ || (calls_ != 0 && !concurrent_)) {
        handle_.make_ready(d.kind());  // kept until the watch is armed again
        return;
    }
    if (concurrent_) {
        wait();
    } else {
        armed_ = false;
    }
    reaction r = reaction::disarm;
    {
        const call inside(*this);
        lock.unlock();
        r = on_ready(d.kind() == poll_event_kind::read ? interest::readable : interest::writable);
        lock.lock();
        settle(r, d);
        lock.unlock();
    }
    if (r == reaction::remove) {
        remove();
    }
}

/// Starts the waits that are missing. Precondition: the lock is held, and a call may follow.
void pollset_watch::wait(pollset_worker* by) noexcept {
    detail::poll_core& core = detail::poll_core::of(handle_);
    for (direction& d : directions_) {
        if (d.wanted && !d.waiting) {
            d.waiting = true;
            // This fails only if the kernel refuses to watch for writing, as it may when memory is
            // short. The handler is called as if writing were possible, and finds out.
            if (core.notify_on(handle_, d.kind(), d, by)) {
                handle_.make_ready(d.kind());
                static_cast<void>(handle_.notify_on(d.kind(), d));
            }
        }
    }
}

void pollset_watch::make_ready() noexcept {
    for (direction& d : directions_) {
        if (d.wanted) {
            handle_.make_ready(d.kind());
        }
    }
}

/// Does what the handler's reaction says. Precondition: the lock is held.
void pollset_watch::settle(reaction r, direction& d) noexcept {
    switch (r) {
        case reaction::rearm:
            armed_ = true;
            break;
        case reaction::again:
        case reaction::requeue:
            armed_ = true;
            if (!removing_) {
                handle_.make_ready(d.kind());
            }
            break;
        case reaction::disarm:
        case reaction::remove:
            armed_ = false;
            break;
        case reaction::leave:
            break;
        case reaction::destroyed:
            EDDY_ASSERT(false, "a pollset_watch is destroyed from on_removed only");
            break;
    }
}

}  // namespace eddy
