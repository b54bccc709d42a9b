// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <pthread.h>

namespace eddy {

/// Calls `Act` at the end of each thread that was armed, and at the end of the program on the
/// thread that ends it. A thread_local object with a destructor would do this too, but the C
/// library aborts the program if it has no memory to register that object.
///
///     unused --arm()--> usable --end of the program, or of the library--> over
template <void (*Act)() noexcept>
class at_thread_exit {
public:
    /// Arms the calling thread. False if memory or keys have run out or the program is ending, in
    /// which case nothing will be called. Thread: any.
    static bool arm() noexcept {
        // relaxed: only the flag travels. Tested first, because the key may belong to others by
        // now.
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

    /// Outlives `key`, because it has no destructor.
    static inline constinit std::atomic<bool> over_{false};
};

}  // namespace eddy
