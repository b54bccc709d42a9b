// SPDX-License-Identifier: Apache-2.0

// Finds the processes that loops watch, and reaps children that have no loop.
#include "os/processes/process_registry.hpp"

#include "kernel/fork_mark.hpp"
#include "kernel/pause.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace eddy::detail {

namespace {

/// Limit of the orphans that one call looks at.
constexpr int orphans_at_once = 32;

/// Storage outside the heap: no user of a registry could do without it.
struct place {
    alignas(process_registry) std::array<std::byte, sizeof(process_registry)> memory;
};
constinit std::array<place, 2> places{};
constinit std::atomic<process_registry*> current{nullptr};
/// The mark of the process that made a registry last, or is making one.
constinit std::atomic<std::uint64_t> made_in{0};

process_registry* in(place& where) noexcept {
    return reinterpret_cast<process_registry*>(where.memory.data());
}

}  // namespace

/// A child after fork() gets a new registry. A thread that does not exist there may hold the lock
/// of the old one, which lists the parent's children. The new one takes the place that is free.
process_registry& process_registry::instance() noexcept {
    const std::uint64_t mark = kernel::process_mark();
    for (;;) {
        process_registry* const found =
            current.load(std::memory_order_acquire);  // pairs with the store
        if (found != nullptr && found->process_mark_ == mark) {
            return *found;
        }
        // relaxed: only the number travels. Of several threads that come first, one makes it.
        std::uint64_t before = made_in.load(std::memory_order_relaxed);
        if (before != mark &&
            made_in.compare_exchange_strong(before, mark, std::memory_order_relaxed)) {
            place& free = found == in(places[0]) ? places[1] : places[0];
            auto* const made = ::new (free.memory.data()) process_registry;
            made->process_mark_ = mark;
            current.store(made, std::memory_order_release);  // pairs with the load: it is complete
            return *made;
        }
        kernel::yield();
    }
}

void process_registry::add(process_state& process) noexcept {
    const std::lock_guard hold(lock_);
    process.known_ = true;
    process.known_pidfd_ = process.pidfd();
    process.next_known_ = std::exchange(bucket_of(process.pid()), &process);
}

void process_registry::remove(process_state& process) noexcept {
    const std::lock_guard hold(lock_);
    if (process.known_) {
        unlink(process);
    }
}

void process_registry::unlink(process_state& process) noexcept {
    process_state** link = &bucket_of(process.pid());
    while (*link != &process) {
        link = &(*link)->next_known_;
    }
    *link = process.next_known_;
    process.known_ = false;
}

/// Finds a process, and forgets it if it was reaped. Precondition: the lock is held.
process_state* process_registry::known(pid_t pid) noexcept {
    process_state* one = bucket_of(pid);
    while (one != nullptr && one->pid() != pid) {
        one = one->next_known_;
    }
    if (one != nullptr &&
        kernel::signal_pidfd(one->known_pidfd_, 0) == std::errc::no_such_process) {
        unlink(*one);
        return nullptr;
    }
    return one;
}

std::shared_ptr<process_state> process_registry::find(pid_t pid) noexcept {
    const std::lock_guard hold(lock_);
    process_state* const found = known(pid);
    return found != nullptr ? found->weak_from_this().lock() : nullptr;
}

void process_registry::begin_spawn() noexcept {
    const std::lock_guard hold(lock_);
    ++spawning_;
}

void process_registry::end_spawn() noexcept {
    bool look_again = false;
    {
        const std::lock_guard hold(lock_);
        look_again = --spawning_ == 0 && std::exchange(put_off_, false);
    }
    if (look_again) {
        children_.tell_all();
    }
}

bool process_registry::reap_unwatched(pid_t& pid, kernel::process_end& out) noexcept {
    const std::lock_guard hold(lock_);
    while (!kernel::find_ended(pid)) {
        process_state* const watched = known(pid);
        if (watched == nullptr && spawning_ != 0) {
            put_off_ = true;
            return false;
        }
        kernel::process_end end;
        if (kernel::reap_pid(pid, end)) {
            continue;  // other code has reaped it first
        }
        if (watched == nullptr) {
            out = end;
            return true;
        }
        // Left alone it would hide others. Its loop, whose reap() fails now, asks for the kept end.
        watched->kept_end_ = end;
    }
    return false;
}

bool process_registry::take_kept_end(process_state& process, kernel::process_end& out) noexcept {
    const std::lock_guard hold(lock_);
    if (!process.kept_end_) {
        return false;
    }
    out = *process.kept_end_;
    return true;
}

void process_registry::add_orphan(std::shared_ptr<process_state> process) noexcept {
    const std::lock_guard hold(lock_);
    process_state& orphan = *process;
    orphan.next_orphan_ = std::exchange(orphans_, std::move(process));
}

void process_registry::reap_orphans() noexcept {
    const std::lock_guard hold(lock_);
    std::shared_ptr<process_state>* link = &orphans_;
    for (int looked = 0; *link != nullptr && looked != orphans_at_once; ++looked) {
        kernel::process_end end;
        const auto error = kernel::reap((*link)->pidfd(), end);
        if (error == std::errc::operation_would_block) {
            link = &(*link)->next_orphan_;
        } else {
            *link = std::exchange((*link)->next_orphan_, nullptr);
        }
    }
    if (*link == nullptr || link == &orphans_) {
        return;
    }
    // Let the others come first next time.
    std::shared_ptr<process_state> looked_at =
        std::exchange(orphans_, std::exchange(*link, nullptr));
    std::shared_ptr<process_state>* last = &orphans_;
    while (*last != nullptr) {
        last = &(*last)->next_orphan_;
    }
    *last = std::move(looked_at);
}

void process_registry::drop_orphan(pid_t pid) noexcept {
    const std::lock_guard hold(lock_);
    for (auto* link = &orphans_; *link != nullptr; link = &(*link)->next_orphan_) {
        if ((*link)->pid() == pid) {
            *link = std::exchange((*link)->next_orphan_, nullptr);
            return;
        }
    }
}

}  // namespace eddy::detail
