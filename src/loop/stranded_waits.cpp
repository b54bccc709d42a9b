// SPDX-License-Identifier: Apache-2.0

// Remembers, in one table for the process, which loop waits for which.
#include "loop/stranded_waits.hpp"

#include <eddy/base/assert.hpp>
#include <eddy/loop/loop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>

namespace eddy {

namespace {

struct stranded_wait {
    loop* waiting = nullptr;
    loop* home = nullptr;  ///< null: this entry is free
    time_point until = never;
};

constinit std::atomic<duration::rep> patience_ns{
    std::chrono::nanoseconds(std::chrono::seconds(10)).count()};
/// How many waits are remembered, so that a loop that waits for nobody takes no lock.
constinit std::atomic<unsigned> count{0};
constinit std::mutex mutex;
constinit std::array<stranded_wait, 16> waits{};

/// Precondition: `mutex` is held.
void remember(loop& waiting, loop& home) noexcept {
    stranded_wait* place = nullptr;
    for (stranded_wait& each : waits) {
        if (each.home == &home && each.waiting == &waiting) {
            return;
        }
        place = each.home == nullptr ? &each : place;
    }
    if (place != nullptr) {
        const duration patience(patience_ns.load(std::memory_order_relaxed));
        *place = {&waiting, &home, saturating_add(clock::now(), patience)};
        count.fetch_add(1, std::memory_order_relaxed);
    }
}

template <class Matches>
void forget_those(Matches matches) noexcept {
    const std::lock_guard lock(mutex);
    for (stranded_wait& each : waits) {
        if (each.home != nullptr && matches(each)) {
            each = {};
            count.fetch_sub(1, std::memory_order_relaxed);
        }
    }
}

[[noreturn]] void abort_for(const stranded_wait& wait) noexcept {
    char message[300];
    std::snprintf(
        message, sizeof message,
        "the loop '%s' awaits a sender of the loop '%s', which nobody runs: run that on a "
        "thread of its own, or make the sender on the loop that awaits it",
        wait.waiting->name(), wait.home->name());
    detail::assertion_failed("the loop of an awaited sender runs", message, __FILE__, __LINE__);
}

}  // namespace

void stranded_waits::set_patience(duration limit) noexcept {
    patience_ns.store(limit.count(), std::memory_order_relaxed);
}

void stranded_waits::begin(loop& home) noexcept {
    if (loop* const waiting = loop::current(); waiting != nullptr) {
        const std::lock_guard lock(mutex);
        remember(*waiting, home);
    }
}

void stranded_waits::forget(const loop& home) noexcept {
    // The lock also shows that `home` runs to any thread that remembers a wait for it later.
    forget_those([&](const stranded_wait& each) { return each.home == &home; });
}

void stranded_waits::end(const loop& l) noexcept {
    forget_those([&](const stranded_wait& each) { return each.home == &l || each.waiting == &l; });
}

time_point stranded_waits::look(loop& waiting) noexcept {
    // relaxed: a thread sees the waits that it has remembered itself.
    if (count.load(std::memory_order_relaxed) == 0) {
        return never;
    }
    time_point next = never;
    const std::lock_guard lock(mutex);
    for (const stranded_wait& each : waits) {
        if (each.home != nullptr && each.waiting == &waiting) {
            if (each.until <= clock::now()) {
                abort_for(each);
            }
            next = std::min(next, each.until);
        }
    }
    return next;
}

}  // namespace eddy
