#include "kernel/file.hpp"

#include "kernel/call.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// EINTR is retried: a file on a network can be interrupted.
template <class Function>
std::error_code checked(Function&& function) noexcept {
    for (;;) {
        count_call();
        if (function() >= 0) {
            return {};
        }
        if (errno != EINTR) {
            return {errno, std::system_category()};
        }
    }
}

}  // namespace

std::error_code status_of(int fd, struct stat& out) noexcept {
    return checked([&] { return ::fstat(fd, &out); });
}

std::error_code status_of(const char* path, struct stat& out) noexcept {
    return checked([&] { return ::lstat(path, &out); });
}

std::error_code truncate(int fd, std::int64_t size) noexcept {
    return checked([&] { return ::ftruncate(fd, size); });
}

std::error_code seek(int fd, std::int64_t offset, int whence, std::int64_t& out) noexcept {
    return checked([&] {
        const off_t position = ::lseek(fd, offset, whence);
        if (position >= 0) {
            out = position;
        }
        return position;
    });
}

std::error_code unlink(const char* path) noexcept {
    return checked([&] { return ::unlink(path); });
}

}  // namespace eddy::kernel
