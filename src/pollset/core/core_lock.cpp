// SPDX-License-Identifier: Apache-2.0

// Takes the domain's lock, and does after its release what was decided under it.
#include "kernel/futex.hpp"
#include "pollset/core/poll_core.hpp"

namespace eddy::detail {

/// Looks for a while whether the lock is free before it sleeps, which costs two system calls. Of
/// several threads that look, one gets the lock, and the others go on looking.
void core_lock::wait_for_it() noexcept {
    if (!wait_a_moment(looks_at_the_lock, [&] {
            return core_.holder_.load(std::memory_order_relaxed) == nullptr &&
                   core_.mutex_.try_lock();
        })) {
        core_.mutex_.lock();
    }
}

void core_lock::release_and_do() {
    struct list {
        core_lock& lock;
        closure_list taken = std::exchange(lock.handed_, {});
        ~list() {
            lock.handed_.append(taken);
            lock.more_ = !lock.handed_.empty();
        }
    };
    list handed{*this};
    unique_fd closing = std::move(closing_);
    const std::size_t rings = std::exchange(rings_, 0);
    closure_executor* const executor = core_.executor_;
    unlock();
    for (std::size_t i = 0; i != rings; ++i) {
        kernel::wake_one(to_ring_[i]);
    }
    closing.reset();
    // The core may be gone from here on: a closure may end the domain.
    while (!handed.taken.empty()) {
        closure& next = handed.taken.pop();
        if (executor != nullptr) {
            executor->execute(next);
        } else {
            next.run();
        }
    }
}

void core_lock::flush() {
    struct regained {
        core_lock& lock;
        ~regained() { lock.acquire(); }
    };
    const regained at_end{*this};
    release();
}

void core_lock::ring(const std::atomic<std::uint32_t>& word) noexcept {
    if (rings_ == to_ring_.size()) {
        kernel::wake_one(&word);
    } else {
        to_ring_[rings_++] = &word;
        more_ = true;
    }
}

}  // namespace eddy::detail
