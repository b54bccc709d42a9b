// SPDX-License-Identifier: Apache-2.0

// Queries and changes what lies behind an open file or a path.
#pragma once

#include <cstdint>
#include <system_error>

#include <sys/stat.h>

namespace eddy::kernel {

std::error_code status_of(int fd, struct stat& out) noexcept;
/// Describes the name itself if it is a symbolic link.
std::error_code status_of(const char* path, struct stat& out) noexcept;
std::error_code truncate(int fd, std::int64_t size) noexcept;
/// Moves the file position. `out` receives the new position.
std::error_code seek(int fd, std::int64_t offset, int whence, std::int64_t& out) noexcept;
/// Removes a name from the file system.
std::error_code unlink(const char* path) noexcept;

}  // namespace eddy::kernel
