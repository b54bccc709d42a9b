// SPDX-License-Identifier: Apache-2.0

// The requests that a loop performs on a descriptor. Their flags are the kernel's.
//
// Lifetime: buffers, vectors, messages, addresses and paths, and what they point to, must live
// until the operation has completed.
//
// Every operation can be cancelled and can have a deadline, except calls that run inline. On epoll
// and poll these are open, close, fsync, and read and write on files, wherever they are made. A
// cancellation ends them only while they wait for their turn.
//
// Reads of one descriptor are performed in the order of their starts, and so are writes, except for
// those with an offset. Other operations (readiness, connect, shutdown, fsync) wait for no other.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/interest.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace eddy {

/// The offset that means the file's own position.
inline constexpr std::int64_t at_position = -1;

/// Builds requests, for the functions of this header.
struct request_builder {
    /// Upper bound on the bytes that one call moves.
    static constexpr std::size_t size_max = 0x7ffff000;
    static constexpr int wait_for_all = 0x100;  ///< MSG_WAITALL

    // Each request is written as a whole: a copy right after piecewise writes would be slow.
    static io_request on(const descriptor& d, opcode code) noexcept {
        return {.code = code,
                .slot = d.slot_,
                .generation = d.generation_,
                .size = 0,
                .offset = at_position};
    }
    static io_request transfer(const descriptor& d, opcode code, const void* data, std::size_t size,
                               std::int64_t offset, int flags, bool all = false) noexcept {
        return {.code = code,
                .all = all,
                .flags = flags,
                .slot = d.slot_,
                .generation = d.generation_,
                .data = const_cast<void*>(data),
                .size = size < size_max ? size : size_max,
                .offset = offset};
    }
    static io_request message(const descriptor& d, opcode code, std::span<const std::byte> buffer,
                              int flags) noexcept {
        return transfer(d, code, buffer.data(), buffer.size(), at_position, flags,
                        (flags & wait_for_all) != 0);
    }
    static void forget(descriptor& d) noexcept {
        d.slot_ = nullptr;
        d.home_ = nullptr;
    }
};

/// A compact form of receive(), for callers that store the request.
class receive_request {
public:
    explicit receive_request(const descriptor& d) noexcept
        : slot_(d.slot_), generation_(d.generation_) {}
    operator io_request() const noexcept {
        return {.code = opcode::receive,
                .slot = slot_,
                .generation = generation_,
                .size = 0,
                .offset = at_position};
    }

private:
    fd_slot* slot_;
    std::uint32_t generation_;
};

/// The direction of a stream_request: `in` reads, `out` writes.
enum class direction : std::uint8_t { in, out };

/// A compact form of a read or write of a stream, for callers that store the request. `All`: until
/// everything was moved, as read_all() and write_all() do.
template <direction Direction, bool All>
class stream_request {
public:
    /// Upper bound on the bytes that one call moves.
    static constexpr std::size_t size_max = All ? std::size_t{1} << 30U : request_builder::size_max;

    stream_request(const descriptor& d, std::span<const std::byte> buffer) noexcept
        : slot_(d.slot_),
          data_(const_cast<std::byte*>(buffer.data())),
          size_(buffer.size()),
          generation_(d.generation_),
          kind_(d.kind_) {}
    operator io_request() const noexcept {
        constexpr bool in = Direction == direction::in;
        const bool socket = is_socket(kind_);
        const opcode of_socket = in ? opcode::recv : opcode::send;
        const opcode of_others = in ? opcode::read : opcode::write;
        return {.code = socket ? of_socket : of_others,
                .all = All,
                .flags = socket && All ? request_builder::wait_for_all : 0,
                .slot = slot_,
                .generation = generation_,
                .data = data_,
                .size = size_ < size_max ? size_ : size_max,
                .offset = at_position};
    }
    /// Returns the number of all bytes, including those that one call does not move.
    std::size_t size() const noexcept { return size_; }
    /// Removes the `count` bytes that were moved: the request asks for the rest.
    void skip(std::size_t count) noexcept {
        data_ += count;
        size_ -= count;
    }

private:
    fd_slot* slot_;
    std::byte* data_;
    std::size_t size_;
    std::uint32_t generation_;
    descriptor_kind kind_;

    friend class own_io;
};

/// Reads into `buffer`. Result: bytes; 0 at the end of the file or stream, or for an empty buffer.
/// One operation moves at most 2 GiB - 4 KiB, however large the buffer is.
EDDY_API io_request read(const descriptor& d, std::span<std::byte> buffer,
                         std::int64_t offset = at_position) noexcept;
/// Writes from `buffer`. Result: bytes, perhaps fewer. A pipe without a reader: EPIPE, never
/// SIGPIPE.
EDDY_API io_request write(const descriptor& d, std::span<const std::byte> buffer,
                          std::int64_t offset = at_position) noexcept;
/// Reads into `vectors`. Only the first 1,024 are used: one call takes no more. A datagram uses all
/// of them, and more than 1,024 are an error.
EDDY_API io_request readv(const descriptor& d, std::span<const iovec> vectors,
                          std::int64_t offset = at_position) noexcept;
/// Writes from `vectors`. Only the first 1,024 are used, as by readv().
EDDY_API io_request writev(const descriptor& d, std::span<const iovec> vectors,
                           std::int64_t offset = at_position) noexcept;

/// Reads until `buffer` is full; from a datagram socket, one message. Ends with less only at the
/// end of the file or stream, at an error, a cancellation or the deadline. The bytes that were
/// moved are the result even then; the error shows at the next read (of a file: if it persists).
EDDY_API io_request read_all(const descriptor& d, std::span<std::byte> buffer,
                             std::int64_t offset = at_position) noexcept;
/// Writes all of `buffer`; to a datagram socket, as one message. Ends with less as read_all() does.
EDDY_API io_request write_all(const descriptor& d, std::span<const std::byte> buffer,
                              std::int64_t offset = at_position) noexcept;
/// Reads until `vectors` are full, as read_all() does. The operation changes `vectors` to keep
/// count: they are of no use afterwards.
EDDY_API io_request readv_all(const descriptor& d, std::span<iovec> vectors,
                              std::int64_t offset = at_position) noexcept;
/// Writes all of `vectors`, as write_all() does, and changes them as readv_all() does.
EDDY_API io_request writev_all(const descriptor& d, std::span<iovec> vectors,
                               std::int64_t offset = at_position) noexcept;

/// Receives from a socket, with the results of read(). MSG_DONTWAIT is ignored: an operation waits
/// until it can be done. With MSG_WAITALL it waits until the buffer is full, as read_all() does.
inline io_request recv(const descriptor& d, std::span<std::byte> buffer, int flags = 0) noexcept {
    return request_builder::message(d, opcode::recv, buffer, flags);
}
/// Sends to a socket; flags as for recv(). A peer that is gone: EPIPE or ECONNRESET, never SIGPIPE.
inline io_request send(const descriptor& d, std::span<const std::byte> buffer,
                       int flags = 0) noexcept {
    return request_builder::message(d, opcode::send, buffer, flags);
}
/// Receives until `buffer` is full: MSG_WAITALL.
inline io_request recv_all(const descriptor& d, std::span<std::byte> buffer) noexcept {
    return recv(d, buffer, request_builder::wait_for_all);
}
/// Sends all of `buffer`: MSG_WAITALL.
inline io_request send_all(const descriptor& d, std::span<const std::byte> buffer) noexcept {
    return send(d, buffer, request_builder::wait_for_all);
}
/// Receives what there is into a buffer that the loop lends; no buffer is needed while it waits.
/// Works on everything that can be read; of a datagram, it takes what fits into one buffer. Result:
/// bytes, whose buffer `loop::take_lease()` returns; 0 at the end of the stream. While all buffers
/// are out (`loop_options::lease_max`), it waits until one comes back.
inline io_request receive(const descriptor& d) noexcept {
    return request_builder::on(d, opcode::receive);
}
/// Receives as receive() does, again and again, until it is cancelled or over. A result without
/// more() is the last one: 0 at the end of the stream or for an empty datagram, an error, or, at
/// any time, bytes; then start it again. Data from before a cancellation is delivered first. Reads
/// that are started in the meantime wait until the multishot receive is over.
inline io_request receive_multishot(const descriptor& d) noexcept {
    io_request request = receive(d);
    request.multishot = true;
    return request;
}
/// Receives a message. Descriptors in it are CLOEXEC, and have the numbers that the kernel chose,
/// which may be 0, 1 or 2.
EDDY_API io_request recvmsg(const descriptor& d, msghdr& message, int flags = 0) noexcept;
/// Sends a message. A peer that is gone: EPIPE or ECONNRESET, never SIGPIPE.
EDDY_API io_request sendmsg(const descriptor& d, const msghdr& message, int flags = 0) noexcept;
/// Sends `count` bytes of a file with sendfile(2), without bringing them into this process. `file`
/// stays the caller's, and must stay open until the operation has completed. Result: bytes; fewer
/// at the end of the file, otherwise as for write_all(). Switches the socket to non-blocking mode,
/// even on io_uring.
EDDY_API io_request send_file(const descriptor& socket, int file, std::int64_t offset,
                              std::size_t count) noexcept;

/// Says which errors of an accept are results.
enum class accept_errors : std::uint8_t {
    /// Errors of the listener itself, such as `invalid_argument`: no later accept will succeed.
    lasting,
    /// Temporary errors too. The accepts of a listener pause for 50 ms after such an error. A
    /// multishot accept goes on after it, so that its result has more().
    every,
};

/// Accepts a connection. Result: the new fd (`io_result::fd()`), CLOEXEC and never 0, 1 or 2, which
/// the receiver must close.
///
/// An accept survives temporary errors. It skips connections that are already gone. While
/// descriptors or memory are lacking (EMFILE, ENFILE, ENOBUFS, ENOMEM and the like), connections
/// wait in the backlog and the accept tries every 50 ms. The first failure of a row is reported
/// (<eddy/base/report.hpp>).
EDDY_API io_request accept(const descriptor& d, int flags = 0,
                           accept_errors errors = accept_errors::lasting) noexcept;
/// Accepts a connection, as accept() without an address does, and stores the peer's address.
EDDY_API io_request accept(const descriptor& d, sockaddr* peer, unsigned* peer_size, int flags = 0,
                           accept_errors errors = accept_errors::lasting) noexcept;
/// Accepts connections until it is cancelled or the listener fails for good; then more() is false.
EDDY_API io_request accept_multishot(const descriptor& d, int flags = 0,
                                     accept_errors errors = accept_errors::lasting) noexcept;
/// Connects a socket to `address`.
EDDY_API io_request connect(const descriptor& d, const sockaddr* address, unsigned size) noexcept;
/// Shuts down a socket at once, even before what is still being sent: wait for that first.
EDDY_API io_request shutdown(const descriptor& d, int how) noexcept;

/// Opens a file. Result: the new fd, CLOEXEC and never 0, 1 or 2. `directory` and `resolve` are as
/// for openat2(2); a kernel without openat2 fails if `resolve` is not 0.
EDDY_API io_request open(const char* path, int flags, unsigned mode = 0, int directory = -100,
                         std::uint64_t resolve = 0) noexcept;
/// Closes a descriptor as descriptor::close() does, and completes when the fd is closed. `d` is
/// empty when this function returns.
EDDY_API io_request close(descriptor& d) noexcept;
/// Writes a file's data and metadata to its device; with `data_only`, as fdatasync(2) does.
EDDY_API io_request fsync(const descriptor& d, bool data_only = false) noexcept;

/// Completes when the descriptor is ready for something of `wanted`, at once if it already is.
/// Result: the conditions that it is ready for (`ready_set()`), error and hang-up always included.
/// The result may be wrong if others read or write in the meantime: use calls that do not block.
/// Files are always ready.
EDDY_API io_request wait(const descriptor& d, interest wanted) noexcept;
/// Completes as wait() does whenever something new has arrived, until it is cancelled. An error or
/// a hang-up is the last result. Take all there is (until EAGAIN): the rest may not be reported.
EDDY_API io_request wait_multishot(const descriptor& d, interest wanted) noexcept;

/// Returns the conditions in the result of a wait; none after an error.
inline interest ready_set(io_result result) noexcept {
    return result ? static_cast<interest>(result.raw()) : interest::none;
}

}  // namespace eddy
