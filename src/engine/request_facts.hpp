// SPDX-License-Identifier: Apache-2.0

// Facts about a request that can be found by looking at it.
#pragma once

#include <eddy/engine/io_operation.hpp>

#include <cstdint>
#include <span>

#include <sys/uio.h>

#include <sys/socket.h>

namespace eddy {

namespace detail {

using code_set = std::uint32_t;
template <class... Codes>
constexpr code_set codes(Codes... those) noexcept {
    return ((code_set{1} << static_cast<unsigned>(those)) | ...);
}
constexpr bool has(code_set set, opcode code) noexcept {
    return (set >> static_cast<unsigned>(code) & 1U) != 0;
}

}  // namespace detail

constexpr bool is_read(opcode code) noexcept {
    using enum opcode;
    return detail::has(detail::codes(read, readv, recv, recvmsg, receive, accept), code);
}
constexpr bool needs_socket(opcode code) noexcept {
    using enum opcode;
    return detail::has(
        detail::codes(recv, send, recvmsg, sendmsg, send_file, accept, connect, shutdown), code);
}
constexpr bool has_offsets(descriptor_kind kind) noexcept {
    return kind == descriptor_kind::file || kind == descriptor_kind::other;
}
/// True for operations that keep their order: transfers at a position that each of them moves,
/// accepts, and the connect before them.
constexpr bool keeps_order(const io_request& request) noexcept {
    using enum opcode;
    if (detail::has(detail::codes(read, write, readv, writev), request.code)) {
        return request.offset < 0;
    }
    return detail::has(
        detail::codes(recv, send, recvmsg, receive, sendmsg, send_file, accept, connect),
        request.code);
}
/// True if the call reads something other than the stream's data, or does not take it: if it would
/// block, that says nothing about other reads.
constexpr bool looks_elsewhere(opcode code, int flags) noexcept {
    return (flags & (MSG_PEEK | MSG_OOB | MSG_ERRQUEUE)) != 0 &&
           (code == opcode::recv || code == opcode::recvmsg);
}
constexpr bool looks_elsewhere(const io_request& request) noexcept {
    return looks_elsewhere(request.code, request.flags);
}
std::uint64_t size_of_vectors(const io_request& request) noexcept;
/// Returns how many bytes the operation moves at most; 0 if it is no transfer.
inline std::uint64_t size_of(const io_request& request) noexcept {
    using enum opcode;
    return detail::has(detail::codes(read, write, recv, send, send_file, receive), request.code)
               ? request.size
               : size_of_vectors(request);
}
/// True for a plain transfer: a recv, send or receive of at least one byte on a calm socket. It is
/// never settled before it begins, and waits for nothing but its turn and the descriptor.
inline bool is_plain(const io_request& request) noexcept {
    using enum opcode;
    const fd_slot* const slot = request.slot;
    return detail::has(detail::codes(recv, send, receive), request.code) && slot != nullptr &&
           slot->generation == request.generation &&
           (request.size != 0 || request.code == receive) && slot->is_calm();
}
/// True if a write may block until all of it is done, because O_NONBLOCK must not be set: then only
/// a bite is written at once.
bool is_bitten(const fd_slot& slot) noexcept;
/// Returns how much of `size` may be written at once. Where poll() reports `writable`, there is
/// room for PIPE_BUF in a pipe and in a socket, and for a little in a terminal.
std::size_t bite(const fd_slot& slot, std::size_t size) noexcept;
/// Returns the vectors that one call is given: no more than 1,024, which is the kernel's limit. The
/// vectors of a message are not cut, because that would make another message.
std::span<const iovec> vectors_of(const io_request& request) noexcept;
/// Returns how many bytes one call for the request is asked to move.
std::uint64_t offered(const io_request& request) noexcept;
/// Returns the first non-empty vector of a writev, as a write. Precondition: there is one.
io_request first_vector(const io_request& request) noexcept;

/// True for operations whose result is a new fd.
constexpr bool makes_fd(opcode code) noexcept {
    using enum opcode;
    return detail::has(detail::codes(accept, open), code);
}

/// The meaning of an error of accept().
enum class accept_failure : std::uint8_t {
    none,
    transient,  ///< the connection is gone: try the next one
    exhausted,  ///< no descriptors or memory, or not allowed: wait a little
    lasting,    ///< of the listener itself: no later try will succeed
};
accept_failure classify_accept(io_result result) noexcept;
/// How many connections in a row an accept skips that are already gone, before it waits a little.
inline constexpr unsigned accept_tries = 16;
/// True if the accept delivers every error, false if it survives those that may pass.
inline bool tells_every_error(const io_request& request) noexcept { return request.mode != 0; }

}  // namespace eddy
