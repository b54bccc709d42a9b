// SPDX-License-Identifier: Apache-2.0

// Puts descriptors into messages, and takes them out.
#include <eddy/io/detail/convert/message_calls.hpp>

#include "kernel/own_fd.hpp"
#include "kernel/passed_fds.hpp"

#include <cstring>
#include <utility>

namespace eddy::detail {

void put_fds(msghdr& message, std::span<const int> fds) noexcept {
    auto* const header = static_cast<cmsghdr*>(message.msg_control);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
}

std::size_t take_fds(msghdr& message, std::span<unique_fd> out) noexcept {
    std::size_t count = 0;
    kernel::for_each_passed_fd(message, [&](int fd) {
        unique_fd owned(fd);
        if (kernel::move_from_standard(owned)) {
            message.msg_flags |= MSG_CTRUNC;  // this process can have no more fds
        } else if (count < out.size()) {
            out[count] = std::move(owned);
            ++count;
        }
    });
    return count;
}

}  // namespace eddy::detail
