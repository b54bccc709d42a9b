// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include <sys/socket.h>

namespace eddy::kernel {

/// Calls `visit(int)` for each fd that came with a received message. The receiver must close them.
template <class Visitor>
void for_each_passed_fd(msghdr& message, Visitor&& visit) noexcept {
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i != came; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            visit(fd);
        }
    }
}

}  // namespace eddy::kernel
