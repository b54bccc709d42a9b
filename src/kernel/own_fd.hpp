// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>

#include <system_error>

namespace eddy::kernel {

/// Takes the result of a call that makes an fd for eddy's own use. The fd is never 0 to 2, even if
/// those are free: the program's standard output would go to it.
std::error_code keep_own(io_result made, unique_fd& out) noexcept;

/// Takes the result of a call that makes an fd, and moves an fd of 0 to 2 to a higher number. Makes
/// no call if the number is already higher. If no other number is free, the fd is closed and the
/// error is returned.
io_result keep_off_standard(io_result made) noexcept;

/// True if the kernel has made an fd of 0 to 2 for eddy, and so may do it again.
bool has_met_standard_fds() noexcept;

/// Resets has_met_standard_fds() if `made` is above 2. The kernel hands out low numbers first, so 0
/// to 2 are in use.
void forget_standard_fds(io_result made) noexcept;

/// Reserves a number above 2 for an fd that is about to be made, with a duplicate of `any`.
std::error_code reserve_number(int any, unique_fd& out) noexcept;
/// Moves `made` to the reserved number if its own is below 3.
io_result move_to_reserved(io_result made, unique_fd reserved) noexcept;

/// Moves an fd of 0 to 2 to a higher number and frees the old number.
std::error_code move_from_standard(int& fd) noexcept;
std::error_code move_from_standard(unique_fd& fd) noexcept;

}  // namespace eddy::kernel
