// SPDX-License-Identifier: Apache-2.0

// Direct calls on files.
#include <eddy/io/detail/convert/file_calls.hpp>

#include "kernel/file.hpp"

#include <limits>

namespace eddy::detail {

std::error_code file_status(int fd, struct stat& out) noexcept {
    return kernel::status_of(fd, out);
}

std::error_code file_size(int fd, std::uint64_t& out) noexcept {
    struct stat status{};
    const auto error = kernel::status_of(fd, status);
    if (!error) {
        out = static_cast<std::uint64_t>(status.st_size);
    }
    return error;
}

std::error_code truncate_file(int fd, std::uint64_t size) noexcept {
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::make_error_code(std::errc::file_too_large);
    }
    return kernel::truncate(fd, static_cast<std::int64_t>(size));
}

std::error_code seek_file(int fd, std::int64_t offset, int whence, std::int64_t* out) noexcept {
    std::int64_t position = 0;
    const auto error = kernel::seek(fd, offset, whence, position);
    if (!error && out != nullptr) {
        *out = position;
    }
    return error;
}

}  // namespace eddy::detail
