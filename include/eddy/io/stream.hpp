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

/// Bytes in order, of any fd that gives or takes them: terminals, serial lines, pipes, eventfds.
/// Sockets derive from it.
///
///     stream serial(loop, unique_fd(fd));
///     char line[256];
///     std::size_t n = co_await serial.read_some(bytes(line));
///     co_await serial.write(bytes("ready\n"));
///
/// Reads are performed in the order in which they were started, and so are writes. Buffers, and
/// arrays of vectors, must live until the operation has completed.
class stream : public io_handle {
public:
    using io_handle::io_handle;

    /// Value: how many bytes came, at least one; 0 is the end of the stream, or an empty buffer.
    auto read_some(std::span<std::byte> buffer) const noexcept {
        return sender_of<direction::in, false, as_count>(buffer);
    }
    auto read_some(std::span<const iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::readv(descriptor_, vectors));
    }
    /// Value: how many bytes went, at least one unless there were none. A peer that is gone is
    /// `broken_pipe` or `connection_reset`, never a signal.
    auto write_some(std::span<const std::byte> buffer) const noexcept {
        return sender_of<direction::out, false, as_count>(buffer);
    }
    auto write_some(std::span<const iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::writev(descriptor_, vectors));
    }

    /// All of it. Value: how many bytes; fewer than the buffer has room for at the end of the
    /// stream, at an error (which the next read tells), or if it was stopped on the way.
    auto read(std::span<std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::in>;
        return sender_of<direction::in, true>(buffer, convert(buffer.size()));
    }
    /// The operation changes `vectors`: they are of no use afterwards.
    auto read(std::span<iovec> vectors) const noexcept {
        return io_sender<as_count>(home(), eddy::readv_all(descriptor_, vectors));
    }
    /// All of it. Value: how many bytes; fewer than were given only if it was stopped on the way.
    auto write(std::span<const std::byte> buffer) const noexcept {
        using convert = detail::whole<direction::out>;
        return sender_of<direction::out, true>(buffer, convert(buffer.size()));
    }
    /// Bytes that could be changed, as a lease has them. Without this, a coroutine that g++ 12 has
    /// compiled keeps the converted span, too.
    template <std::same_as<std::span<std::byte>> Buffer>
    auto write(Buffer buffer) const noexcept {
        return write(std::span<const std::byte>(buffer));
    }
    /// The operation changes `vectors`: they are of no use afterwards. No more than 1 GiB.
    auto write(std::span<iovec> vectors) const noexcept {
        return io_sender<detail::whole_gather>(home(), eddy::writev_all(descriptor_, vectors),
                                               detail::whole_gather(vectors));
    }

    /// What there is, in a buffer that the loop lends with it: while it waits, it holds none.
    /// Value: a `lease`, empty at the end of the stream, which may be given back on any thread.
    /// While all buffers are lent (`loop_options::lease_max`) this waits until one comes back.
    auto receive() const noexcept {
        return io_sender<detail::as_lease, receive_request>(home(), receive_request(descriptor_));
    }

    // A wrong argument is told so in words.
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
