// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace eddy::detail {

/// True: this process has begun no other thread yet, and only this one can begin one. False says
/// nothing.
inline bool is_lone_thread() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

/// Writes `to` if `from` is there, and says whether it did; with that order, or what of it a read
/// can have. A thread that has always been alone does so without an atomic instruction, as with the
/// C library's locks: such an instruction waits until all that was written before is in the cache,
/// which takes long behind a call of the kernel.
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
