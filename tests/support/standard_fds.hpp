// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::test {

inline constexpr int standard_fds[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

inline void close_standard_fds() {
    std::ranges::for_each(standard_fds, [](int fd) { ::close(fd); });
}
inline bool standard_fds_are_free() {
    return std::ranges::all_of(standard_fds, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });
}

}  // namespace eddy::test
