// SPDX-License-Identifier: Apache-2.0

// Starts and joins threads.
#include "kernel/os_thread.hpp"

#include "kernel/once.hpp"

#include <utility>

namespace eddy::kernel {

std::error_code os_thread::start(void* (*run)(void*), void* argument) noexcept {
    const io_result started = once(call::thread, [&] {
        return result_of_error(::pthread_create(&thread_, nullptr, run, argument));
    });
    runs_ = started.ok();
    return started.error();
}

void os_thread::join() noexcept {
    if (std::exchange(runs_, false)) {
        surely(call::thread_join,
               [&] { return result_of_error(::pthread_join(thread_, nullptr)); });
    }
}

}  // namespace eddy::kernel
