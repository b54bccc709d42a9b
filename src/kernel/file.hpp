// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <system_error>

#include <sys/stat.h>

/// Asking and changing what lies behind an open file or a path.
namespace eddy::kernel {

std::error_code status_of(int fd, struct stat& out) noexcept;
/// Of the name itself if it is a symbolic link.
std::error_code status_of(const char* path, struct stat& out) noexcept;
std::error_code truncate(int fd, std::int64_t size) noexcept;
/// `out`: the new position.
std::error_code seek(int fd, std::int64_t offset, int whence, std::int64_t& out) noexcept;
/// Removes a name from the file system.
std::error_code unlink(const char* path) noexcept;

}  // namespace eddy::kernel
