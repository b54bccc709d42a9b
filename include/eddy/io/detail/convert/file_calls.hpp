// SPDX-License-Identifier: Apache-2.0

// Direct calls on files.
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>
#include <system_error>

#include <sys/stat.h>

namespace eddy::detail {

EDDY_API std::error_code file_status(int fd, struct stat& out) noexcept;
EDDY_API std::error_code file_size(int fd, std::uint64_t& out) noexcept;
/// Fails with `file_too_large` beyond the size of the kernel's largest file.
EDDY_API std::error_code truncate_file(int fd, std::uint64_t size) noexcept;
EDDY_API std::error_code seek_file(int fd, std::int64_t offset, int whence,
                                   std::int64_t* out) noexcept;

}  // namespace eddy::detail
