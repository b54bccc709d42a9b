// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/error.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/convert/buffer_argument.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/detail/stream/whole.hpp>
#include <eddy/io/io_handle.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/requests.hpp>

#include <concepts>
#include <cstddef>
#include <span>

#include <sys/uio.h>

namespace eddy {
EDDY_EX_BEGIN

/// A byte stream over any fd that can be read or written: a terminal, serial line, pipe or eventfd.
/// Sockets derive from it.
///
///     stream serial(loop, unique_fd(fd));
///     char line[256];
///     std::size_t n = co_await serial.read_some(bytes(line));
///     co_await serial.write(bytes("ready\n"));
///
/// Reads are performed in the order in which they were started, and so are writes. Lifetime:
/// buffers and arrays of vectors must live until the operation has completed.
class stream : public io_handle {
public:
    using io_handle::io_handle;

    /// Reads a part. Value: the number of bytes; 0 means end of stream or an empty buffer.
    auto read_some(std::span<std::byte> buffer) const noexcept {
        return sender_of<direction::in, false, as_count>(buffer);
    }
    auto read_some(std::span<const iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::readv(descriptor_, vectors));
    }
    /// Writes a part. Value: the number of bytes, at least one unless there are none. If the peer
    /// is gone, the error is `broken_pipe` or `connection_reset`; there is never a signal.
    auto write_some(std::span<const std::byte> buffer) const noexcept {
        return sender_of<direction::out, false, as_count>(buffer);
    }
    auto write_some(std::span<const iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::writev(descriptor_, vectors));
    }

    /// Fills the buffer. Value: the number of bytes; less than its size at the end of the stream,
    /// before an error (which the next read reports), or if stopped on the way.
    auto read(std::span<std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::in>;
        return sender_of<direction::in, true>(buffer, convert(buffer.size()));
    }
    /// Fills all of `vectors`. The operation modifies them: do not reuse them.
    auto read(std::span<iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::readv_all(descriptor_, vectors));
    }
    /// Writes the whole buffer. Value: the number of bytes; less only if stopped on the way.
    auto write(std::span<const std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::out>;
        return sender_of<direction::out, true>(buffer, convert(buffer.size()));
    }
    /// Accepts a span of mutable bytes, such as a lease has. Without this overload a coroutine
    /// compiled by g++ 12 also stores the converted span in its frame.
    template <std::same_as<std::span<std::byte>> Buffer>
    auto write(Buffer buffer) const noexcept {
        return write(std::span<const std::byte>(buffer));
    }
    /// Writes all of `vectors`, at most 1 GiB. The operation modifies them: do not reuse them.
    auto write(std::span<iovec> vectors) const noexcept {
        return io_sender<detail::whole_gather>(home(), eddy::writev_all(descriptor_, vectors),
                                               detail::whole_gather(vectors));
    }

    /// Receives data in a buffer that the loop lends when the data arrives. Value: a `lease`, empty
    /// at the end of the stream, which any thread may give back. While all buffers are lent
    /// (`loop_options::lease_max`), this waits until one is returned.
    auto receive() const noexcept {
        return io_sender<detail::as_lease, receive_request>(home(), receive_request(descriptor_));
    }

    // These overloads turn a wrong argument into a readable compile error.
    template <detail::no_buffer<std::span<std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> read_some(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> write_some(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>, std::span<iovec>> Wrong>
    io_sender<detail::whole<direction::in>> read(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::in>>, Wrong>();
    }
    template <detail::no_buffer<std::span<const std::byte>, std::span<iovec>> Wrong>
    io_sender<detail::whole<direction::out>> write(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::whole<direction::out>>, Wrong>();
    }

private:
    template <direction Direction, bool All, class Convert>
    io_sender<Convert, stream_request<Direction, All>> sender_of(
        std::span<const std::byte> buffer, Convert convert = {}) const noexcept {
        return {home(), stream_request<Direction, All>(descriptor_, buffer), convert};
    }
};

EDDY_EX_END
}  // namespace eddy
