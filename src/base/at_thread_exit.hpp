// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <pthread.h>

namespace eddy {

/// Calls `Act` at the end of each thread that was armed, and at the end of the program on the
/// thread that ends it. A thread_local object with a destructor would do the same, but the C
/// library aborts the program when it has no memory to remember that object.
///
///     unused --arm()--> usable --end of the program, or of the library--> over
template <void (*Act)() noexcept>
class at_thread_exit {
public:
    /// For the calling thread. False: there is no memory, or no key, or the program ends; nothing
    /// will be called. Thread: any.
    static bool arm() noexcept {
        // relaxed: only the flag travels. Asked first: the key may be somebody else's by now.
        if (over_.load(std::memory_order_relaxed)) {
            return false;
        }
        static const key made;
        return made.error == 0 && ::pthread_setspecific(made.number, &over_) == 0;
    }

private:
    struct key {
        key() noexcept : error(::pthread_key_create(&number, &run)) {}
        ~key() {
            over_.store(true, std::memory_order_relaxed);
            Act();
            if (error == 0) {
                ::pthread_key_delete(number);
            }
        }
        key(const key&) = delete;
        key& operator=(const key&) = delete;

        pthread_key_t number{};
        const int error;
    };

    static void run(void*) noexcept { Act(); }

    /// Outlives `key`: it has no destructor.
    static inline constinit std::atomic<bool> over_{false};
};

}  // namespace eddy
