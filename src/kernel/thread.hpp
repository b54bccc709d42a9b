// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <system_error>

#include <pthread.h>

/// Properties of the calling thread.
namespace eddy::kernel {

/// No other thread of this process has it, or will have it: unlike pthread_self(), which a later
/// thread gets again. Makes no call.
std::uint64_t thread_number() noexcept;

std::uint64_t timer_slack_ns() noexcept;
void set_timer_slack_ns(std::uint64_t slack_ns) noexcept;

/// The core that the calling thread is on at this moment; 0 if the kernel does not say.
unsigned current_core() noexcept;

/// While it lives, the calling thread goes on when it is cancelled (pthread_cancel), which else
/// ends it in whatever call of the system it is: where nothing may be thrown, the process ends with
/// it.
class uncancelled {
public:
    // No call of the kernel: a mark in the thread's memory.
    uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    uncancelled(const uncancelled&) = delete;
    uncancelled& operator=(const uncancelled&) = delete;
    ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = 0;
};

/// The number of cores that run; 0 if the kernel does not say.
unsigned core_count() noexcept;
/// Binds the calling thread to one core.
std::error_code pin_to_core(unsigned core) noexcept;

/// How often the calling thread was ready to go on and had to leave its core to another.
std::uint64_t preemptions() noexcept;

}  // namespace eddy::kernel
