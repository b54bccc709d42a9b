#pragma once

#include <eddy/base/unique_fd.hpp>

#include <cerrno>
#include <string>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace example {

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
