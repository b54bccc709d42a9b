// SPDX-License-Identifier: Apache-2.0

// Implements the calls on open files and paths.
#include "kernel/file.hpp"

#include "kernel/retried.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

std::error_code status_of(int fd, struct stat& out) noexcept {
    return retried(call::stat, [&] { return ::fstat(fd, &out); }).error();
}

std::error_code status_of(const char* path, struct stat& out) noexcept {
    return retried(call::stat, [&] { return ::lstat(path, &out); }).error();
}

std::error_code truncate(int fd, std::int64_t size) noexcept {
    return retried(call::truncate, [&] { return ::ftruncate(fd, size); }).error();
}

std::error_code seek(int fd, std::int64_t offset, int whence, std::int64_t& out) noexcept {
    const io_result position = retried(call::seek, [&] { return ::lseek(fd, offset, whence); });
    if (position) {
        out = position.raw();
    }
    return position.error();
}

std::error_code unlink(const char* path) noexcept {
    return retried(call::unlink, [&] { return ::unlink(path); }).error();
}

}  // namespace eddy::kernel
