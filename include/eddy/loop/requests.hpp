// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/interest.hpp>
#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// What a loop can be asked to do with a descriptor. The flags are the kernel's.
///
/// Lifetime: buffers, vectors, messages, addresses and paths must live until the operation has
/// completed, and so must what they point to.
///
/// Every operation can be cancelled and can have a deadline, except calls that run inline: on epoll
/// and poll those are open, close, fsync, and read and write on files, wherever they are made.
/// There a cancellation has no effect, unless they still wait for their turn.
///
/// Reads of one descriptor are performed in the order in which they were started, and so are
/// writes, except for those with an offset. The others (readiness, connect, shutdown, fsync) wait
/// for nobody.
namespace eddy {

/// Where files are read and written: at the file's own position.
inline constexpr std::int64_t at_position = -1;

/// What the functions below have in common.
struct request_builder {
    /// The most that one call moves.
    static constexpr std::size_t size_max = 0x7ffff000;
    static constexpr int wait_for_all = 0x100;  ///< MSG_WAITALL

    // Each is made in one go: what is written in parts is slow to copy soon after.
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

/// receive(), in less room: for who keeps it.
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

enum class direction : std::uint8_t { in, out };

/// A read or write of a stream, in less room: for who keeps it. `All`: as read_all(), write_all().
template <direction Direction, bool All>
class stream_request {
public:
    /// One call moves no more of it.
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
    /// All of it, also what one call does not move.
    std::size_t size() const noexcept { return size_; }
    /// So much was moved: the rest is asked for.
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

/// Result: bytes; 0 is the end of the file or stream, or an empty buffer. At most 2 GiB - 4 KiB are
/// moved by one operation, however large the buffer is.
EDDY_API io_request read(const descriptor& d, std::span<std::byte> buffer,
                         std::int64_t offset = at_position) noexcept;
/// Result: bytes, perhaps fewer than were given. A pipe without a reader: EPIPE, never SIGPIPE.
EDDY_API io_request write(const descriptor& d, std::span<const std::byte> buffer,
                          std::int64_t offset = at_position) noexcept;
/// Of more than 1,024 vectors the first are used: one call takes no more. All of them are one
/// message where there are messages, which is an error then.
EDDY_API io_request readv(const descriptor& d, std::span<const iovec> vectors,
                          std::int64_t offset = at_position) noexcept;
EDDY_API io_request writev(const descriptor& d, std::span<const iovec> vectors,
                           std::int64_t offset = at_position) noexcept;

/// The same until all of it was moved, on everything except datagrams, which are one message each.
/// They end with less only at the end of the file or stream, at an error, a cancellation or the
/// deadline. What was moved is the result even then; the error shows at the next transfer in that
/// direction (with a file: if it is still there).
EDDY_API io_request read_all(const descriptor& d, std::span<std::byte> buffer,
                             std::int64_t offset = at_position) noexcept;
EDDY_API io_request write_all(const descriptor& d, std::span<const std::byte> buffer,
                              std::int64_t offset = at_position) noexcept;
/// The operation changes `vectors` to keep count: they are of no use afterwards.
EDDY_API io_request readv_all(const descriptor& d, std::span<iovec> vectors,
                              std::int64_t offset = at_position) noexcept;
EDDY_API io_request writev_all(const descriptor& d, std::span<iovec> vectors,
                               std::int64_t offset = at_position) noexcept;

/// Sockets. MSG_DONTWAIT is ignored: an operation waits until it can be done. With MSG_WAITALL it
/// waits until the whole buffer was moved, as read_all() and write_all() do.
inline io_request recv(const descriptor& d, std::span<std::byte> buffer, int flags = 0) noexcept {
    return request_builder::message(d, opcode::recv, buffer, flags);
}
/// A peer that is gone: EPIPE or ECONNRESET, never SIGPIPE.
inline io_request send(const descriptor& d, std::span<const std::byte> buffer,
                       int flags = 0) noexcept {
    return request_builder::message(d, opcode::send, buffer, flags);
}
/// All of the buffer: MSG_WAITALL.
inline io_request recv_all(const descriptor& d, std::span<std::byte> buffer) noexcept {
    return recv(d, buffer, request_builder::wait_for_all);
}
inline io_request send_all(const descriptor& d, std::span<const std::byte> buffer) noexcept {
    return send(d, buffer, request_builder::wait_for_all);
}
/// What there is, in a buffer that the loop lends: while it waits it needs none. On everything that
/// can be read; of a datagram what fits into one buffer. Result: bytes, of which
/// `loop::take_lease()` gives the buffer; 0 at the end of the stream. While all buffers are lent
/// (`loop_options::lease_max`) it waits until one comes back.
inline io_request receive(const descriptor& d) noexcept {
    return request_builder::on(d, opcode::receive);
}
/// The same again whenever more has come, so that it need not be started each time. A result
/// without more() is the last one: 0 at the end of the stream or of an empty datagram, an error,
/// or, at any time, bytes; then start it anew. What had come before it was cancelled is delivered
/// first. Reads that are started meanwhile wait until it is over.
inline io_request receive_multishot(const descriptor& d) noexcept {
    io_request request = receive(d);
    request.multishot = true;
    return request;
}
/// Descriptors that come with a message are CLOEXEC, and have the numbers that the kernel chose,
/// which may be 0, 1 or 2.
EDDY_API io_request recvmsg(const descriptor& d, msghdr& message, int flags = 0) noexcept;
EDDY_API io_request sendmsg(const descriptor& d, const msghdr& message, int flags = 0) noexcept;
/// All of `count` bytes of a file, without bringing them into this process: sendfile(2). `file`
/// stays the caller's, and must stay open until the operation has completed. Result: bytes; fewer
/// at the end of the file, else as for write_all(). Switches the socket to non-blocking mode, on
/// io_uring too.
EDDY_API io_request send_file(const descriptor& socket, int file, std::int64_t offset,
                              std::size_t count) noexcept;

/// Which errors of an accept are results.
enum class accept_errors : std::uint8_t {
    /// Errors of the listener itself, such as `invalid_argument`: no later accept will succeed.
    lasting,
    /// Also those that pass. The accepts of a listener pause for 50 ms after such an error; a
    /// multishot one goes on behind it, so that the result has more().
    every,
};

/// Result: the new fd (`io_result::fd()`), CLOEXEC and never 0, 1 or 2, which is the receiver's to
/// close.
///
/// An accept survives errors that pass. Connections that are gone again are skipped. While there
/// are no descriptors or no memory (EMFILE, ENFILE, ENOBUFS, ENOMEM and the like), connections wait
/// in the backlog: the accept tries every 50 ms until there is room. The first failure of a row is
/// reported (<eddy/base/report.hpp>).
EDDY_API io_request accept(const descriptor& d, int flags = 0,
                           accept_errors errors = accept_errors::lasting) noexcept;
EDDY_API io_request accept(const descriptor& d, sockaddr* peer, unsigned* peer_size, int flags = 0,
                           accept_errors errors = accept_errors::lasting) noexcept;
/// Accepts until it is cancelled or the listener fails for good: then more() is false.
EDDY_API io_request accept_multishot(const descriptor& d, int flags = 0,
                                     accept_errors errors = accept_errors::lasting) noexcept;
EDDY_API io_request connect(const descriptor& d, const sockaddr* address, unsigned size) noexcept;
/// At once, also before what is still being sent: wait for that first.
EDDY_API io_request shutdown(const descriptor& d, int how) noexcept;

/// Result: the new fd, CLOEXEC and never 0, 1 or 2. `directory` and `resolve` as for openat2(2); a
/// kernel without openat2 fails if `resolve` is not 0.
EDDY_API io_request open(const char* path, int flags, unsigned mode = 0, int directory = -100,
                         std::uint64_t resolve = 0) noexcept;
/// Like descriptor::close(), but tells when the fd is closed. `d` is empty afterwards.
EDDY_API io_request close(descriptor& d) noexcept;
EDDY_API io_request fsync(const descriptor& d, bool data_only = false) noexcept;

/// Completes when the descriptor is ready for something of `wanted`, at once if it is already.
/// Result: what it is ready for (`ready_set()`), which includes error and hang-up unasked. It may
/// be wrong when others read or write meanwhile: use calls that do not block. Files are always
/// ready.
EDDY_API io_request wait(const descriptor& d, interest wanted) noexcept;
/// The same again whenever something new has arrived, until it is cancelled; an error or a hang-up
/// is the last result. Take all there is (until EAGAIN): whether it is told again of what was left
/// is not defined.
EDDY_API io_request wait_multishot(const descriptor& d, interest wanted) noexcept;

inline interest ready_set(io_result result) noexcept {
    return result ? static_cast<interest>(result.raw()) : interest::none;
}

}  // namespace eddy
