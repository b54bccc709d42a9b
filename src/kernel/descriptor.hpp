// SPDX-License-Identifier: Apache-2.0

// Facts that the kernel knows about an fd.
#pragma once

#include <cstdint>
#include <system_error>

namespace eddy::kernel {

enum class file_type : std::uint8_t {
    tcp_socket,
    stream_socket,
    message_socket,
    pipe,
    tty,
    file,
    other,
};

struct file_facts {
    file_type type = file_type::other;
    /// Distinguishes the files behind one fd number. 0 where the kernel does not (anonymous
    /// inodes).
    std::uint32_t identity = 0;
};

/// Finds type and identity. EBADF if the fd is not open.
std::error_code examine(int fd, file_facts& facts) noexcept;

/// Finds the identity alone, with one call.
std::error_code identify(int fd, std::uint32_t& identity) noexcept;

/// Makes one call, and a second one for anonymous inodes. EBADF if the fd is not open.
std::error_code is_signalfd(int fd, bool& yes) noexcept;

/// The address family AF_*, or -1 if the fd is not a socket.
int socket_domain(int fd) noexcept;

/// True if io_uring reports how much data a receive has left in this socket: a TCP socket without
/// an upper protocol such as kernel TLS. Makes two calls.
bool tells_of_rest(int fd) noexcept;

/// True if each write goes to the end of the file.
bool appends(int fd) noexcept;

/// True if O_NONBLOCK is set, or if the kernel does not tell.
bool is_nonblocking(int fd) noexcept;
/// Sets or clears O_NONBLOCK. `was` receives the previous state.
std::error_code set_nonblocking(int fd, bool on, bool& was) noexcept;

}  // namespace eddy::kernel
