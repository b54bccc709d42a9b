// SPDX-License-Identifier: Apache-2.0

// io_uring calls that liburing 2.3 lacks, or does not let eddy count.
#pragma once

#include <eddy/base/clock.hpp>

#include <cstdint>
#include <system_error>

namespace eddy::kernel {

/// Enables a ring made with IORING_SETUP_R_DISABLED, which from then on belongs to this thread.
std::error_code uring_enable(int ring) noexcept;

/// Makes the kernel write the eventfd for every completion, and for work that waits for an enter.
std::error_code uring_register_eventfd(int ring, int eventfd) noexcept;

/// Cancels the requests submitted with `user_data`, and returns when the kernel has finished with
/// them. Succeeds if there are none. Linux 6.0.
std::error_code uring_cancel(int ring, std::uint64_t user_data, duration limit) noexcept;

/// A ring, named by its fd or by the number under which this thread has registered it.
struct ring_name {
    int number;
    bool registered;
};

/// Submits, and then waits for `wait_for` completions if that is not 0, at most until the deadline.
/// A passed deadline and an interruption are no errors. Entries that the kernel did not take stay
/// in the queue.
std::error_code uring_enter(ring_name ring, unsigned to_submit, unsigned wait_for,
                            time_point until) noexcept;

}  // namespace eddy::kernel
