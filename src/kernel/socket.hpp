// SPDX-License-Identifier: Apache-2.0

// Makes and queries sockets. New fds are CLOEXEC, and never 0, 1 or 2.
#pragma once

#include <eddy/base/unique_fd.hpp>

#include <cstdint>
#include <system_error>

#include <sys/socket.h>

namespace eddy::kernel {

std::error_code make_socket(int family, int type, int protocol, unique_fd& out) noexcept;
std::error_code make_socket_pair(int family, int type, unique_fd& a, unique_fd& b) noexcept;
std::error_code make_pipe(unique_fd& reader, unique_fd& writer) noexcept;

std::error_code bind(int fd, const sockaddr* address, socklen_t length) noexcept;
std::error_code listen(int fd, int backlog) noexcept;
std::error_code local_address(int fd, sockaddr* address, socklen_t* length) noexcept;
std::error_code peer_address(int fd, sockaddr* address, socklen_t* length) noexcept;

std::error_code set_option(int fd, int level, int name, const void* value,
                           socklen_t length) noexcept;
std::error_code get_option(int fd, int level, int name, void* value, socklen_t& length) noexcept;

/// The number of the network interface called `name`. `no_such_device` if there is none.
std::error_code interface_index(const char* name, std::uint32_t& out) noexcept;

}  // namespace eddy::kernel
