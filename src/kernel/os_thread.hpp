// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <system_error>

#include <pthread.h>

namespace eddy::kernel {

/// A thread that is joined before its handle ends.
class os_thread {
public:
    os_thread() noexcept = default;
    os_thread(const os_thread&) = delete;
    os_thread& operator=(const os_thread&) = delete;
    ~os_thread() { EDDY_ASSERT(!runs_, "a thread was not joined"); }

    /// The new thread calls `run(argument)`, whose result is ignored. EAGAIN: there are too many
    /// threads, or too little memory.
    std::error_code start(void* (*run)(void*), void* argument) noexcept;
    /// Returns when `run` has returned. Does nothing if no thread was started.
    void join() noexcept;
    /// True from start() to join().
    bool joinable() const noexcept { return runs_; }

private:
    pthread_t thread_{};
    bool runs_ = false;
};

}  // namespace eddy::kernel
