// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "common/die.hpp"

namespace bench {

/// The most that any server reads at once. All subjects use it, or say why not.
inline constexpr std::size_t read_max = 64 * 1024;

inline constexpr int kernel_buffer = 208 * 1024;

/// A non-blocking listener on 127.0.0.1. Prints "port N", which the driver waits for. Every server
/// uses it, so that the subjects differ in their loops only.
inline int listen_on(int port) {
    const int fd = must(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    const int one = 1;
    must(::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), "SO_REUSEADDR");
    // Accepted sockets inherit these. A fixed size of the kernel's buffers, because they grow with
    // the luck of each connection otherwise, and two runs of one program differ by 15 %.
    must(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "TCP_NODELAY");
    must(::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kernel_buffer, sizeof kernel_buffer),
         "SO_RCVBUF");
    must(::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kernel_buffer, sizeof kernel_buffer),
         "SO_SNDBUF");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
    must(::listen(fd, 4096), "listen");
    socklen_t size = sizeof address;
    must(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    std::printf("port %d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    return fd;
}

/// The port of `server PORT`; 0 lets the kernel choose.
inline int port_argument(int argc, char** argv) {
    char* end = nullptr;
    const long port = argc == 2 ? std::strtol(argv[1], &end, 10) : -1;
    if (port < 0 || port > 65535 || end == argv[1] || *end != '\0') {
        std::fprintf(stderr, "usage: %s PORT (0 lets the kernel choose)\n", argv[0]);
        std::exit(2);
    }
    return static_cast<int>(port);
}

/// A connection that arrived, non-blocking; -1 when there is none.
inline int accept_from(int listener) {
    return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

}  // namespace bench
