// SPDX-License-Identifier: Apache-2.0

// Keeps eddy's own fds off the numbers 0 to 2.
#include "kernel/own_fd.hpp"

#include "kernel/io.hpp"
#include "kernel/once.hpp"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

std::atomic<bool> met_standard_fds{false};

io_result duplicate_above_standard(int fd) noexcept {
    const io_result made =
        once(call::dupfd, [&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); });
    // EINVAL means that the process may have no number above 2.
    return made.system_error() == EINVAL ? io_result::system_error(EMFILE) : made;
}

}  // namespace

// relaxed, here and below: the flag is a hint and publishes no data.
bool has_met_standard_fds() noexcept { return met_standard_fds.load(std::memory_order_relaxed); }

void forget_standard_fds(io_result made) noexcept {
    if (made && made.fd() > STDERR_FILENO) {
        met_standard_fds.store(false, std::memory_order_relaxed);
    }
}

std::error_code reserve_number(int any, unique_fd& out) noexcept {
    const io_result made = duplicate_above_standard(any);
    if (made) {
        out.reset(made.fd());
    }
    return made.error();
}

io_result move_to_reserved(io_result made, unique_fd reserved) noexcept {
    if (!made || made.fd() > STDERR_FILENO) {
        return made;
    }
    const unique_fd low(made.fd());
    const io_result moved =
        once(call::dupfd, [&] { return ::dup3(low.get(), reserved.get(), O_CLOEXEC); });
    return moved ? io_result::value(reserved.release()) : moved;
}

std::error_code keep_own(io_result made, unique_fd& out) noexcept {
    if (!made) {
        return made.error();
    }
    int fd = made.fd();
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
    if (const auto error = keep_own(made, moved)) {
        return io_result::system_error(error.value());
    }
    return io_result::value(moved.release());
}

std::error_code move_from_standard(int& fd) noexcept {
    if (fd > STDERR_FILENO) {
        return {};
    }
    met_standard_fds.store(true, std::memory_order_relaxed);
    const io_result moved = duplicate_above_standard(fd);
    if (!moved) {
        return moved.error();
    }
    close(fd);
    fd = moved.fd();
    return {};
}

std::error_code move_from_standard(unique_fd& fd) noexcept {
    int number = fd.release();
    const auto error = move_from_standard(number);
    fd.reset(number);
    return error;
}

}  // namespace eddy::kernel
