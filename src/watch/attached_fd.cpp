// SPDX-License-Identifier: Apache-2.0

// Attaches the fd of a watch to its loop, and in the end closes it or gives it back.
#include <eddy/watch/detail/attached_fd.hpp>

#include <eddy/loop/requests.hpp>

#include <string>
#include <system_error>

namespace eddy::detail {

attached_fd::attached_fd(loop& home, unique_fd fd, const char* name)
    : descriptor_(home, std::move(fd), {.name = name, .nonblocking = true}) {}

attached_fd::attached_fd(loop& home, const io_request& on, bool borrowed) noexcept
    : borrowed_(borrowed) {
    descriptor_.home_ = &home;
    descriptor_.slot_ = on.slot;
    descriptor_.generation_ = on.generation;
    descriptor_.kind_ = on.slot->kind;
}

void attached_fd::borrow(loop& home, int fd, const char* name) {
    if (auto error = descriptor::attach_to_watch(home, fd, descriptor_, name)) {
        const char* const advice = error == std::errc::file_exists
                                       ? " twice (bidi_watch is for both directions of one fd)"
                                       : "";
        throw std::system_error(error, "cannot watch fd " + std::to_string(fd) + advice);
    }
}

void attached_fd::part() noexcept {
    if (borrowed_) {
        descriptor_.give_back();
    } else {
        descriptor_.close();
    }
}

}  // namespace eddy::detail
