// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include <fcntl.h>

namespace example {

/// Throws unless fds 0, 1 and 2 are open. Call it first: what is opened later would take the place
/// of one that is not, and be read or written as if it were that.
inline void require_standard_fds() {
    constexpr const char* names[] = {"input", "output", "error"};
    for (int fd = 0; fd != 3; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0) {
            throw std::runtime_error(std::string("the standard ") + names[fd] + " is closed");
        }
    }
}

/// Whether all that was printed has been written, which a full disk shows only at the end.
inline bool printed_all() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace example
