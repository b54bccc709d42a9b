#pragma once

#include <eddy/engine/io_operation.hpp>

#include <cstdint>
#include <span>

#include <sys/uio.h>

/// What can be told of a request by looking at it.
namespace eddy {

bool is_read(opcode code) noexcept;
bool needs_socket(opcode code) noexcept;
bool has_offsets(descriptor_kind kind) noexcept;
/// Transfers at a position that each of them moves, accepts, and the connect before them.
bool keeps_order(const io_request& request) noexcept;
/// Reads something else than the data of the stream, or does not take it: whether it would block
/// says nothing about the others.
bool looks_elsewhere(const io_request& request) noexcept;
/// How many bytes the operation moves at most; 0 for what is no transfer.
std::uint64_t size_of(const io_request& request) noexcept;
/// Whether a write without O_NONBLOCK waits until all of it is done, and O_NONBLOCK is not ours to
/// set: then only a bite is written at once.
bool is_bitten(const fd_slot& slot) noexcept;
/// How much of `size` may be written at once. What poll() calls writable has room for this:
/// PIPE_BUF in a pipe and in a socket, a little in a terminal.
std::size_t bite(const fd_slot& slot, std::size_t size) noexcept;
/// The vectors of a readv or writev that one call is given: the kernel takes no more than 1,024.
/// Those of a message are not cut, because it would be another message.
std::span<const iovec> vectors_of(const io_request& request) noexcept;
/// How many bytes one call for the request is asked to move.
std::uint64_t offered(const io_request& request) noexcept;
/// The first vector of a writev that is not empty, as a write. Precondition: there is one.
io_request first_vector(const io_request& request) noexcept;

/// What an error of accept() means.
enum class accept_failure : std::uint8_t {
    transient,  ///< of a connection that is gone: try the next one
    exhausted,  ///< no descriptors or memory, or not allowed: wait a little
    lasting,
};
accept_failure classify_accept(io_result result) noexcept;

}  // namespace eddy
