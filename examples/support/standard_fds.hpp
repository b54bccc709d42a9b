// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include <fcntl.h>

namespace example {

/// Throws unless fds 0, 1 and 2 are open. Call it first: otherwise a file that is opened later
/// could take the place of a closed one, and be read or written as a standard stream.
inline void require_standard_fds() {
    constexpr const char* names[] = {"input", "output", "error"};
    for (int fd = 0; fd != 3; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0) {
            throw std::runtime_error(std::string("the standard ") + names[fd] + " is closed");
        }
    }
}

/// True if all output was written: on a full disk, only the last flush may fail.
inline bool printed_all() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace example
