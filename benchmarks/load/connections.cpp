// SPDX-License-Identifier: Apache-2.0
#include "load/connections.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace bench {

namespace {

constexpr int wait_max_s = 10;

void set_options(int fd) {
    const int one = 1;
    const timeval bound{.tv_sec = wait_max_s, .tv_usec = 0};
    const linger reset{.l_onoff = 1, .l_linger = 0};
    // Not left to grow by itself: the batches of a run would depend on it.
    const int kernel_buffer = 208 * 1024;
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kernel_buffer, sizeof kernel_buffer);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kernel_buffer, sizeof kernel_buffer);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

unique_fd connect_one(const sockaddr_in& address) {
    unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) throw std::runtime_error(std::string("socket: ") + std::strerror(errno));
    set_options(fd.get());
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
    }
    return fd;
}

}  // namespace

std::string load_shape::name() const {
    const std::string size =
        bytes % 1024 == 0 ? std::to_string(bytes / 1024) + "KiB" : std::to_string(bytes) + "B";
    return std::to_string(connections) + "x" + size + "x" + std::to_string(pipeline);
}

std::vector<unique_fd> connect_all(int port, unsigned count) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::vector<unique_fd> all;
    all.reserve(count);
    while (all.size() < count) all.push_back(connect_one(address));
    return all;
}

}  // namespace bench
