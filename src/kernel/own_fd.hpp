#pragma once

#include <eddy/base/unique_fd.hpp>

#include <system_error>

namespace eddy::kernel {

/// Takes an fd that the kernel has just made for our own use; negative: the call failed, with
/// errno. Never 0 to 2, though they may be free: whatever uses them would talk to it.
std::error_code keep_own(int fd, unique_fd& out) noexcept;

/// Moves an fd of 0 to 2 elsewhere; the old number is free again.
std::error_code move_from_standard(int& fd) noexcept;
std::error_code move_from_standard(unique_fd& fd) noexcept;

}  // namespace eddy::kernel
