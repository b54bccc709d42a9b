// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/datagram.hpp>
#include <eddy/io/detail/connect/connecting.hpp>
#include <eddy/io/detail/convert/buffer_argument.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/detail/convert/message_converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <span>

#include <sys/uio.h>

namespace eddy {
EDDY_EX_BEGIN

/// A socket that keeps message boundaries and has a peer. Buffers, and arrays of vectors, must live
/// until the operation has completed.
class message_socket : public socket_of<io_handle> {
public:
    static constexpr descriptor_kind kind = descriptor_kind::datagram;
    using socket_of::socket_of;

    /// Value: the size of the message; it is sent as a whole or not at all.
    auto send(std::span<const std::byte> buffer) const noexcept {
        return io_sender<as_count>(home(), eddy::send(descriptor_, buffer));
    }
    /// One message out of several buffers.
    auto send(std::span<const iovec> vectors) const noexcept {
        detail::sending convert(vectors);
        return io_sender<detail::sending>(home(), eddy::sendmsg(descriptor_, convert.header),
                                          convert);
    }
    /// Value: a `datagram`, which says whether it was cut.
    auto recv(std::span<std::byte> buffer) const noexcept { return receive_into(buffer, false); }
    /// One message into several buffers.
    auto recv(std::span<const iovec> vectors) const noexcept {
        return receive_into(vectors, false);
    }
    /// The next message, in a buffer that the loop lends with it: while it waits, it holds none.
    /// Value: a `lease`, empty for an empty message; what does not fit into the buffer
    /// (`loop_options::lease_size`) is lost. The rest as for stream::receive().
    auto receive() const noexcept {
        return io_sender<detail::as_lease, receive_request>(home(), receive_request(descriptor_));
    }

    // A wrong argument is told so in words.
    template <detail::no_buffer<std::span<const std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> send(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>, std::span<const iovec>> Wrong>
    io_sender<detail::receiving> recv(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::receiving>, Wrong>();
    }

protected:
    template <class Buffers>
    io_sender<detail::receiving> receive_into(Buffers buffers, bool with_address) const noexcept {
        detail::receiving convert(buffers, with_address);
        return {home(), eddy::recvmsg(descriptor_, convert.header), convert};
    }
};

/// A message socket that can talk to anybody.
class datagram_socket : public message_socket {
public:
    using message_socket::message_socket;

    /// Value: the size of the message. The address is copied.
    auto send_to(std::span<const std::byte> buffer, const address& to) const noexcept {
        return send_message(buffer, to);
    }
    auto send_to(std::span<const iovec> vectors, const address& to) const noexcept {
        return send_message(vectors, to);
    }
    /// Value: a `datagram` with the address of the sender.
    auto recv_from(std::span<std::byte> buffer) const noexcept {
        return receive_into(buffer, true);
    }
    auto recv_from(std::span<const iovec> vectors) const noexcept {
        return receive_into(vectors, true);
    }
    /// From now on send() goes to `to`, and only messages from there are received.
    auto connect(const address& to) const noexcept {
        return io_sender<detail::connecting_existing>(
            home(), eddy::connect(descriptor_, nullptr, 0), detail::connecting_existing{{}, to});
    }

    // A wrong argument is told so in words.
    template <detail::no_buffer<std::span<const std::byte>, std::span<const iovec>> Wrong>
    io_sender<as_count> send_to(Wrong&&, const address&) const noexcept {
        return detail::refuse_buffer<io_sender<as_count>, Wrong>();
    }
    template <detail::no_buffer<std::span<std::byte>, std::span<const iovec>> Wrong>
    io_sender<detail::receiving> recv_from(Wrong&&) const noexcept {
        return detail::refuse_buffer<io_sender<detail::receiving>, Wrong>();
    }

private:
    template <class Buffers>
    io_sender<detail::sending_to> send_message(Buffers buffers, const address& to) const noexcept {
        detail::sending_to convert(buffers, to);
        return {home(), eddy::sendmsg(descriptor_, convert.header), convert};
    }
};

EDDY_EX_END
}  // namespace eddy
