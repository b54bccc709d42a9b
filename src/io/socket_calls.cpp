// SPDX-License-Identifier: Apache-2.0

// Direct calls on sockets and pipes.
#include <eddy/io/detail/connect/socket_calls.hpp>

#include "kernel/socket.hpp"

#include <string>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace eddy::detail {

namespace {

/// Converts an address that the kernel has written; empty if it makes no sense.
address taken(const sockaddr_storage& native, socklen_t length) noexcept {
    return address::from_native(reinterpret_cast<const sockaddr*>(&native), length);
}

}  // namespace

std::error_code open_socket(int family, int type, unique_fd& out) noexcept {
    return kernel::make_socket(family, type, 0, out);
}

std::error_code open_socket_pair(int type, unique_fd& a, unique_fd& b) noexcept {
    return kernel::make_socket_pair(AF_UNIX, type, a, b);
}

std::error_code open_pipe(unique_fd& reader, unique_fd& writer) noexcept {
    return kernel::make_pipe(reader, writer);
}

std::error_code bind_socket(int fd, const address& where) noexcept {
    return kernel::bind(fd, where.native(), where.native_length());
}

std::error_code listen_on(int fd, int backlog) noexcept { return kernel::listen(fd, backlog); }

std::error_code set_socket_option(int fd, int level, int name, const void* value,
                                  socklen_t size) noexcept {
    return kernel::set_option(fd, level, name, value, size);
}

std::error_code set_no_delay(int fd) noexcept {
    const int on = 1;
    return set_socket_option(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::error_code get_socket_option(int fd, int level, int name, void* value,
                                  socklen_t size) noexcept {
    socklen_t length = size;
    if (auto error = kernel::get_option(fd, level, name, value, length)) {
        return error;
    }
    return length == size ? std::error_code() : std::make_error_code(std::errc::invalid_argument);
}

std::error_code local_address_of(int fd, address& out) noexcept {
    sockaddr_storage native{};
    socklen_t length = sizeof native;
    const auto error = kernel::local_address(fd, reinterpret_cast<sockaddr*>(&native), &length);
    if (!error) {
        out = taken(native, length);
    }
    return error;
}

std::error_code peer_address_of(int fd, address& out) noexcept {
    sockaddr_storage native{};
    socklen_t length = sizeof native;
    const auto error = kernel::peer_address(fd, reinterpret_cast<sockaddr*>(&native), &length);
    if (!error) {
        out = taken(native, length);
    }
    return error;
}

std::error_code credentials_of(int fd, peer_credentials& out) noexcept {
    ucred native{};
    const auto error = get_socket_option(fd, SOL_SOCKET, SO_PEERCRED, &native, sizeof native);
    if (!error) {
        out = {native.pid, native.uid, native.gid};
    }
    return error;
}

void throw_if(std::error_code error, const char* what, const address& where) {
    if (error) {
        throw std::system_error(error, std::string(what) + " " + where.to_string());
    }
}

void throw_if(std::error_code error, const char* what) {
    if (error) {
        throw std::system_error(error, what);
    }
}

}  // namespace eddy::detail
