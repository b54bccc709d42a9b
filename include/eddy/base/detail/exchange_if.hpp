// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace eddy::detail {

/// True if this process has never started a second thread, so that only the caller can start one.
/// False says nothing.
inline bool is_lone_thread() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

/// Writes `to` if `where` holds `from`, and returns true if it did. `order` applies to the write; a
/// failed comparison uses the load part of `order`. Without a second thread the exchange needs no
/// atomic instruction, as in the C library's locks: an atomic instruction waits until all earlier
/// stores have reached the cache, which takes long after a system call.
template <class T>
[[gnu::always_inline]] inline bool exchange_if(std::atomic<T>& where, T from, T to,
                                               std::memory_order order) noexcept {
    if (is_lone_thread()) {
        if (where.load(std::memory_order_relaxed) != from) {
            return false;
        }
        where.store(to, std::memory_order_relaxed);
        return true;
    }
    return where.compare_exchange_strong(from, to, order);
}

}  // namespace eddy::detail
