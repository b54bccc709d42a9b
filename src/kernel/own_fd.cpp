#include "kernel/own_fd.hpp"

#include "kernel/call.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

std::error_code keep_own(int fd, unique_fd& out) noexcept {
    if (fd < 0) {
        return {errno, std::system_category()};
    }
    const auto error = move_from_standard(fd);
    out.reset(fd);
    if (error) {
        out.reset();
    }
    return error;
}

std::error_code move_from_standard(int& fd) noexcept {
    if (fd > STDERR_FILENO) {
        return {};
    }
    count_call();
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) {
        return {errno, std::system_category()};
    }
    count_call();
    ::close(fd);
    fd = moved;
    return {};
}

std::error_code move_from_standard(unique_fd& fd) noexcept {
    int number = fd.release();
    const auto error = move_from_standard(number);
    fd.reset(number);
    return error;
}

}  // namespace eddy::kernel
