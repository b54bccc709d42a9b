#include "kernel/own_fd.hpp"

#include "kernel/call.hpp"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

std::atomic<bool> met_standard_fds{false};

/// A duplicate with a number above 2; negative: errno says why there is none.
int duplicate_above_standard(int fd) noexcept {
    count_call();
    const int made = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (made < 0 && errno == EINVAL) {
        errno = EMFILE;  // the process may have no number above 2
    }
    return made;
}

}  // namespace

// relaxed, here and below: the hint carries no data.
bool has_met_standard_fds() noexcept { return met_standard_fds.load(std::memory_order_relaxed); }

std::error_code reserve_number(int any, unique_fd& out) noexcept {
    const int made = duplicate_above_standard(any);
    if (made < 0) {
        return {errno, std::system_category()};
    }
    out.reset(made);
    return {};
}

io_result move_to_reserved(io_result made, unique_fd reserved) noexcept {
    if (!made || made.fd() > STDERR_FILENO) {
        return made;
    }
    const unique_fd low(made.fd());
    count_call();
    if (::dup3(low.get(), reserved.get(), O_CLOEXEC) < 0) {
        return io_result::system_error(errno);
    }
    return io_result::value(reserved.release());
}

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
    met_standard_fds.store(true, std::memory_order_relaxed);
    const int moved = duplicate_above_standard(fd);
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
