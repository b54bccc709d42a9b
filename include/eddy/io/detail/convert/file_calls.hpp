// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>
#include <system_error>

#include <sys/stat.h>

/// What files are asked directly.
namespace eddy::detail {

EDDY_API std::error_code file_status(int fd, struct stat& out) noexcept;
EDDY_API std::error_code file_size(int fd, std::uint64_t& out) noexcept;
/// More than the kernel's largest file is `file_too_large`.
EDDY_API std::error_code truncate_file(int fd, std::uint64_t size) noexcept;
EDDY_API std::error_code seek_file(int fd, std::int64_t offset, int whence,
                                   std::int64_t* out) noexcept;

}  // namespace eddy::detail
