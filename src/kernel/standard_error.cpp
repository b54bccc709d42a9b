// SPDX-License-Identifier: Apache-2.0

// Writes reports to the standard error that the process started with.
#include "kernel/standard_error.hpp"

#include "base/report.hpp"

#include "kernel/once.hpp"
#include "kernel/sigpipe_guard.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

bool has_room(int fd) noexcept {
    pollfd asked{fd, POLLOUT, 0};
    return once(call::poll, [&] { return ::poll(&asked, 1, 0); }).raw() == 1;
}

bool look(struct stat& now) noexcept {
    return once(call::fstat, [&] { return ::fstat(STDERR_FILENO, &now); }).ok();
}

const standard_error& at_start() noexcept {
    static const standard_error started;
    return started;
}
/// Initialized before main(), while descriptor 2 is still the one that the process started with.
[[maybe_unused]] const standard_error& asked_early = at_start();

}  // namespace

standard_error::standard_error() noexcept {
    struct stat now{};
    open_ = look(now);
    device_ = now.st_dev;
    inode_ = now.st_ino;
}

bool standard_error::still_ours() const noexcept {
    struct stat now{};
    if (!open_ || !look(now)) {
        return false;
    }
    return !S_ISSOCK(now.st_mode) || (now.st_dev == device_ && now.st_ino == inode_);
}

void standard_error::write(std::string_view line) const noexcept {
    if (!still_ours() || !has_room(STDERR_FILENO)) {
        return;
    }
    const sigpipe_guard guard;
    // An error has nowhere to go.
    once(call::write, [&] { return ::write(STDERR_FILENO, line.data(), line.size()); });
}

}  // namespace eddy::kernel

void eddy::detail::write_to_standard_error(std::string_view line) noexcept {
    kernel::at_start().write(line);
}
