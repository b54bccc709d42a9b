#include <eddy/io/detail/message_calls.hpp>

#include <cstring>

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
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i != came; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            unique_fd owned(fd);
            if (count < out.size()) {
                out[count] = std::move(owned);
                ++count;
            }
        }
    }
    return count;
}

}  // namespace eddy::detail
