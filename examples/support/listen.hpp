// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/tcp/listen.hpp>

#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>

namespace example {

/// Opens a listener on the loopback address. Throws std::system_error.
inline eddy::unique_fd listen_on(unsigned short port) {
    const eddy::address where = eddy::address::loopback_v4(port);
    eddy::unique_fd fd;
    if (auto error = eddy::tcp::open_listener(where, {}, fd)) {
        throw std::system_error(error, "listen on " + where.to_string());
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
