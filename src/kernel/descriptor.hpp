// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <system_error>

/// What the kernel knows of an fd.
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
    /// Tells the files behind one fd number apart; 0 where the kernel does not (anonymous inodes).
    std::uint32_t identity = 0;
};

/// EBADF if it is not open.
std::error_code examine(int fd, file_facts& facts) noexcept;

/// The identity alone, for one call.
std::error_code identify(int fd, std::uint32_t& identity) noexcept;

/// One call, and a second one for anonymous inodes. EBADF if it is not open.
std::error_code is_signalfd(int fd, bool& yes) noexcept;

/// AF_*; -1 if it is no socket.
int socket_domain(int fd) noexcept;

/// Whether io_uring knows of that socket how much is left in it after a receive: it is TCP, with
/// nothing above it (such as TLS of the kernel). Two calls.
bool tells_of_rest(int fd) noexcept;

/// Whether each write goes to the end of the file.
bool appends(int fd) noexcept;

/// Also true if that cannot be told.
bool is_nonblocking(int fd) noexcept;
/// Sets or clears O_NONBLOCK and says in `was` how it was.
std::error_code set_nonblocking(int fd, bool on, bool& was) noexcept;

}  // namespace eddy::kernel
