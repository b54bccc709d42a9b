// SPDX-License-Identifier: Apache-2.0
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

/// Calls that move data or make descriptors. Total functions: errno becomes an io_result, EINTR is
/// retried, sizes are cut to what the kernel takes in one call.
namespace eddy::kernel {

/// The most that the kernel moves in one call.
inline constexpr std::size_t transfer_max = 0x7ffff000;

/// `offset` -1: at the file's own position.
io_result read(int fd, void* data, std::size_t size, std::int64_t offset) noexcept;
io_result write(int fd, const void* data, std::size_t size, std::int64_t offset) noexcept;
io_result readv(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept;
io_result writev(int fd, std::span<const iovec> vectors, std::int64_t offset) noexcept;
/// To a pipe without a reader: EPIPE and no SIGPIPE.
io_result writev_pipe(int fd, std::span<const iovec> vectors) noexcept;
/// RWF_NOSIGNAL, which is newer (6.18) than the headers that we build with.
inline constexpr int no_sigpipe = 0x100;
/// True: the kernel has it.
bool has_rwf_nosignal() noexcept;

/// One try, for the hot path: EINTR is the caller's, and so is the limit of the size. (What may
/// always be inlined counts less for the compiler when it decides about the functions around it.)
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

/// Sockets: never blocking, never SIGPIPE.
io_result recv(int fd, void* data, std::size_t size, int flags) noexcept;
io_result send(int fd, const void* data, std::size_t size, int flags) noexcept;
io_result recvmsg(int fd, msghdr* message, int flags) noexcept;
io_result sendmsg(int fd, const msghdr* message, int flags) noexcept;
/// From a file to a socket, at the file's own position if `offset` is -1. Blocks if the socket
/// does; never SIGPIPE.
io_result send_file(int socket, int file, std::int64_t offset, std::size_t size) noexcept;

/// The new fd is CLOEXEC, and never 0, 1 or 2.
io_result accept(int fd, sockaddr* address, socklen_t* size, int flags) noexcept;
/// EINPROGRESS is an error like any other.
io_result connect(int fd, const sockaddr* address, socklen_t size) noexcept;
/// How a connect that was in progress has ended.
io_result connect_result(int fd) noexcept;
io_result shutdown(int fd, int how) noexcept;

/// The new fd is CLOEXEC, and never 0, 1 or 2.
io_result open(int directory, const char* path, int flags, std::uint32_t mode,
               std::uint64_t resolve) noexcept;
/// What openat2() is given for it.
open_how how_to_open(int flags, std::uint32_t mode, std::uint64_t resolve) noexcept;
io_result close(int fd) noexcept;
io_result fsync(int fd, bool data_only) noexcept;

/// `vectors`, or in `part` a piece of the first one that has bytes, if a test asked for that with
/// shorten().
std::span<const iovec> shortened(call which, std::span<const iovec> vectors, iovec& part) noexcept;
/// True: a test asked for less of the message, which is in `less` then, with its bytes in `part`.
bool shorten_message(call which, const msghdr& all, msghdr& less, iovec& part) noexcept;

/// What `fd` is ready for now, of `wanted` and what is reported unasked. Never blocks.
io_result ready_now(int fd, interest wanted) noexcept;

}  // namespace eddy::kernel
