// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/assert.hpp>

#include <system_error>

#include <pthread.h>

namespace eddy::kernel {

/// A thread that must be joined before its handle is destroyed.
class os_thread {
public:
    os_thread() noexcept = default;
    os_thread(const os_thread&) = delete;
    os_thread& operator=(const os_thread&) = delete;
    ~os_thread() { EDDY_ASSERT(!runs_, "a thread was not joined"); }

    /// Starts a thread that calls `run(argument)` and ignores the result. EAGAIN means too many
    /// threads or too little memory.
    std::error_code start(void* (*run)(void*), void* argument) noexcept;
    /// Waits until `run` has returned. Does nothing if no thread was started.
    void join() noexcept;
    /// True from start() to join().
    bool joinable() const noexcept { return runs_; }

private:
    pthread_t thread_{};
    bool runs_ = false;
};

}  // namespace eddy::kernel
