// SPDX-License-Identifier: Apache-2.0

// Direct calls on sockets and pipes, which do not wait.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/peer_credentials.hpp>

#include <system_error>

namespace eddy::detail {

EDDY_API std::error_code open_socket(int family, int type, unique_fd& out) noexcept;
EDDY_API std::error_code open_socket_pair(int type, unique_fd& a, unique_fd& b) noexcept;
EDDY_API std::error_code open_pipe(unique_fd& reader, unique_fd& writer) noexcept;

EDDY_API std::error_code bind_socket(int fd, const address& where) noexcept;
EDDY_API std::error_code listen_on(int fd, int backlog) noexcept;

EDDY_API std::error_code set_socket_option(int fd, int level, int name, const void* value,
                                           socklen_t size) noexcept;
/// Sets TCP_NODELAY.
EDDY_API std::error_code set_no_delay(int fd) noexcept;
/// Fails with `invalid_argument` if the option is shorter than `size`.
EDDY_API std::error_code get_socket_option(int fd, int level, int name, void* value,
                                           socklen_t size) noexcept;

EDDY_API std::error_code local_address_of(int fd, address& out) noexcept;
EDDY_API std::error_code peer_address_of(int fd, address& out) noexcept;
EDDY_API std::error_code credentials_of(int fd, peer_credentials& out) noexcept;

/// If there is an error, throws std::system_error with "what address" in its message.
EDDY_API void throw_if(std::error_code error, const char* what, const address& where);
EDDY_API void throw_if(std::error_code error, const char* what);

}  // namespace eddy::detail
