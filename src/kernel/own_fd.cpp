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

io_result keep_off_standard(io_result made) noexcept {
    if (!made || made.fd() > STDERR_FILENO) {
        return made;
    }
    unique_fd moved;
    if (const auto error = keep_own(made.fd(), moved)) {
        return io_result::system_error(error.value());
    }
    return io_result::value(moved.release());
}

std::error_code move_from_standard(int& fd) noexcept {
    if (fd > STDERR_FILENO) {
        return {};
    }
    count_call();
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) {
        // EINVAL: the process may have no number above 2.
        return {errno == EINVAL ? EMFILE : errno, std::system_category()};
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
