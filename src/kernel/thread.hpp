// SPDX-License-Identifier: Apache-2.0

// Properties of the calling thread.
#pragma once

#include <cstdint>
#include <system_error>

#include <pthread.h>

namespace eddy::kernel {

/// A number for the calling thread, which no other thread of this process ever gets.
/// (pthread_self() is reused.) Makes no system call.
std::uint64_t thread_number() noexcept;

std::uint64_t timer_slack_ns() noexcept;
void set_timer_slack_ns(std::uint64_t slack_ns) noexcept;

/// The core that the calling thread runs on right now. 0 if the kernel does not say.
unsigned current_core() noexcept;

/// Defers cancellation of the calling thread (pthread_cancel) during the object's life. Otherwise a
/// cancelled thread may be unwound out of any system call, and unwinding through a noexcept
/// function ends the process.
class uncancelled {
public:
    // No system call: a flag in the thread's memory.
    uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    uncancelled(const uncancelled&) = delete;
    uncancelled& operator=(const uncancelled&) = delete;
    ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = 0;
};

/// The number of cores that are online. 0 if the kernel does not say.
unsigned core_count() noexcept;
/// Binds the calling thread to one core.
std::error_code pin_to_core(unsigned core) noexcept;

/// The number of times that the calling thread was preempted: ready to run, it had to leave its
/// core.
std::uint64_t preemptions() noexcept;

}  // namespace eddy::kernel
