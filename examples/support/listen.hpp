#pragma once

#include <eddy/base/unique_fd.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace example {

/// The one argument of a server: its port. Prints what is wrong with it and exits.
inline unsigned short port_argument(int argc, char** argv) {
    unsigned short port = 0;
    if (argc == 2) {
        const char* const end = argv[1] + std::strlen(argv[1]);
        const auto [rest, error] = std::from_chars(argv[1], end, port);
        if (error == std::errc() && rest == end) {
            return port;
        }
    }
    std::fprintf(stderr, "usage: %s PORT   (1 to 65535, or 0 for any)\n", argv[0]);
    std::exit(2);
}

inline void set_nodelay(int fd) noexcept {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// A listener on the loopback address. Throws std::system_error.
inline eddy::unique_fd listen_on(unsigned short port) {
    const auto failed = [](const char* what) {
        return std::system_error(errno, std::system_category(), what);
    };
    eddy::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) {
        throw failed("socket");
    }
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd.get(), generic, sizeof address) != 0) {
        throw failed(("bind to port " + std::to_string(port)).c_str());
    }
    if (::listen(fd.get(), SOMAXCONN) != 0) {
        throw failed("listen");
    }
    return fd;
}

inline int port_of(int fd) noexcept {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

}  // namespace example
