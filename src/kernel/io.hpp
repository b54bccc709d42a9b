// SPDX-License-Identifier: Apache-2.0

// Calls that move data or make descriptors. errno becomes an io_result, EINTR is retried, and sizes
// are cut to the kernel's limit for one call.
#pragma once

#include "kernel/direct.hpp"
#include "kernel/once.hpp"

#include <eddy/base/error.hpp>
#include <eddy/base/interest.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace eddy::kernel {

/// The maximum that the kernel moves in one call.
inline constexpr std::size_t transfer_max = 0x7ffff000;

/// Reads at `offset`, or at the file's own position if `offset` is -1.
io_result read(int fd, void* data, std::size_t size, std::int64_t offset) noexcept;
io_result write(int fd, const void* data, std::size_t size, std::int64_t offset) noexcept;
io_result readv(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept;
io_result writev(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept;
/// Writes to a pipe. A pipe without a reader gives EPIPE and no SIGPIPE.
io_result writev_pipe(int fd, std::span<const iovec> vectors) noexcept;
/// RWF_NOSIGNAL (Linux 6.18), which is newer than the headers that eddy is built with.
inline constexpr int no_sigpipe = 0x100;
/// True if the kernel supports RWF_NOSIGNAL.
bool has_rwf_nosignal() noexcept;

/// One try, for the hot path. The caller handles EINTR and limits the size. The lambda is always
/// inlined because the compiler then counts it less when it decides about the surrounding
/// functions.
inline io_result recv_once(int fd, void* data, std::size_t size, int flags) noexcept {
    return once(call::recv, [&]() __attribute__((always_inline)) {
        return direct::recv(fd, data, shortened(call::recv, size), flags | MSG_DONTWAIT);
    });
}
inline io_result send_once(int fd, const void* data, std::size_t size, int flags) noexcept {
    return once(call::send, [&]() __attribute__((always_inline)) {
        return direct::send(fd, data, shortened(call::send, size),
                            flags | MSG_DONTWAIT | MSG_NOSIGNAL);
    });
}

/// Transfers on sockets. They never block and never raise SIGPIPE.
io_result recv(int fd, void* data, std::size_t size, int flags) noexcept;
io_result send(int fd, const void* data, std::size_t size, int flags) noexcept;
io_result recvmsg(int fd, msghdr* message, int flags) noexcept;
io_result sendmsg(int fd, const msghdr* message, int flags) noexcept;
/// Moves data from a file to a socket, at the file's own position if `offset` is -1. Blocks if the
/// socket does. Never raises SIGPIPE.
io_result send_file(int socket, int file, std::int64_t offset, std::size_t size) noexcept;

/// Accepts a connection. The new fd is CLOEXEC, and never 0, 1 or 2.
io_result accept(int fd, sockaddr* address, socklen_t* size, int flags) noexcept;
/// Connects. EINPROGRESS is reported like any other error.
io_result connect(int fd, const sockaddr* address, socklen_t size) noexcept;
/// The result of a connect that was in progress.
io_result connect_result(int fd) noexcept;
io_result shutdown(int fd, int how) noexcept;

/// Opens a file. The new fd is CLOEXEC, and never 0, 1 or 2.
io_result open(int directory, const char* path, int flags, std::uint32_t mode,
               std::uint64_t resolve) noexcept;
/// The argument of openat2() for these flags.
open_how how_to_open(int flags, std::uint32_t mode, std::uint64_t resolve) noexcept;
io_result close(int fd) noexcept;
io_result fsync(int fd, bool data_only) noexcept;

/// Returns `vectors`. If a test requested a shorter transfer with shorten(), returns a piece of the
/// first vector that has bytes, stored in `part`.
std::span<const iovec> shortened(call which, std::span<const iovec> vectors, iovec& part) noexcept;
/// True if a test requested a shorter message, which is then in `less`, with its bytes in `part`.
bool shorten_message(call which, const msghdr& all, msghdr& less, iovec& part) noexcept;

/// The conditions that `fd` meets now, out of `wanted` and those always reported. Never blocks.
io_result ready_now(int fd, interest wanted) noexcept;

}  // namespace eddy::kernel
