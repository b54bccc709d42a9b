// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>

#include <cstdint>
#include <system_error>

/// What liburing 2.3 lacks or does not let us count.
namespace eddy::kernel {

/// Enables a ring that was made with IORING_SETUP_R_DISABLED; it belongs to this thread then.
std::error_code uring_enable(int ring) noexcept;

/// Has the kernel write the eventfd with every completion, and with work that waits for an enter.
std::error_code uring_register_eventfd(int ring, int eventfd) noexcept;

/// Cancels what was submitted with that `user_data`, and returns when the kernel has nothing to do
/// for it any more, also if there was nothing of that kind. Linux 6.0.
std::error_code uring_cancel(int ring, std::uint64_t user_data, duration limit) noexcept;

/// A ring by its fd, or by the number that it was registered with in this thread.
struct ring_name {
    int number;
    bool registered;
};

/// Submits, and if `wait_for` is not 0 waits for as many completions until the deadline. An end of
/// the time and an interruption are no errors. What the kernel did not take stays in the queue.
std::error_code uring_enter(ring_name ring, unsigned to_submit, unsigned wait_for,
                            time_point until) noexcept;

}  // namespace eddy::kernel
