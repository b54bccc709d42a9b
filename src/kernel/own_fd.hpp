// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/base/unique_fd.hpp>

#include <system_error>

namespace eddy::kernel {

/// Takes the result of a call that makes an fd for our own use. The fd is never 0 to 2, though they
/// may be free: whatever uses them would talk to it.
std::error_code keep_own(io_result made, unique_fd& out) noexcept;

/// Takes the result of a call that makes an fd, and moves an fd of 0 to 2 elsewhere. Makes no call
/// for a higher number. If no other number is free, the fd is closed and the result is that error.
io_result keep_off_standard(io_result made) noexcept;

/// True if the kernel has made an fd of 0 to 2 for us: it may do so again.
bool has_met_standard_fds() noexcept;

/// Takes has_met_standard_fds() back if the kernel has made an fd above 2: lower numbers come
/// first, so 0 to 2 are in use.
void forget_standard_fds(io_result made) noexcept;

/// Takes a number above 2 for an fd that is about to be made, by a duplicate of `any`.
std::error_code reserve_number(int any, unique_fd& out) noexcept;
/// Gives `made` the reserved number, if its own is below 3.
io_result move_to_reserved(io_result made, unique_fd reserved) noexcept;

/// Moves an fd of 0 to 2 elsewhere; the old number is free again.
std::error_code move_from_standard(int& fd) noexcept;
std::error_code move_from_standard(unique_fd& fd) noexcept;

}  // namespace eddy::kernel
