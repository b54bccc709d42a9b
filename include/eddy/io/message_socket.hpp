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

/// A socket that keeps message boundaries and has a peer. Lifetime: buffers and arrays of vectors
/// must live until the operation has completed.
class message_socket : public socket_of<io_handle> {
public:
    static constexpr descriptor_kind kind = descriptor_kind::datagram;
    using socket_of::socket_of;

    /// Sends one message, as a whole or not at all. Value: its size.
    auto send(std::span<const std::byte> buffer) const noexcept {
        return io_sender<as_count>(home(), eddy::send(descriptor_, buffer));
    }
    /// Sends one message that is gathered from several buffers.
    auto send(std::span<const iovec> vectors) const noexcept {
        detail::sending convert(vectors);
        return io_sender<detail::sending>(home(), eddy::sendmsg(descriptor_, convert.header),
                                          convert);
    }
    /// Receives one message. Value: a `datagram`, which says whether the message was truncated.
    auto recv(std::span<std::byte> buffer) const noexcept { return receive_into(buffer, false); }
    /// Receives one message into several buffers.
    auto recv(std::span<const iovec> vectors) const noexcept {
        return receive_into(vectors, false);
    }
    /// Receives one message in a buffer that the loop lends when the message arrives. Value: a
    /// `lease`, empty for an empty message. Bytes beyond the buffer (`loop_options::lease_size`)
    /// are lost. Leases are given back and waited for as with stream::receive().
    auto receive() const noexcept {
        return io_sender<detail::as_lease, receive_request>(home(), receive_request(descriptor_));
    }

    // These overloads turn a wrong argument into a readable compile error.
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

/// A message socket that can exchange messages with any address.
class datagram_socket : public message_socket {
public:
    using message_socket::message_socket;

    /// Sends one message to `to`, which is copied. Value: the size of the message.
    auto send_to(std::span<const std::byte> buffer, const address& to) const noexcept {
        return send_message(buffer, to);
    }
    auto send_to(std::span<const iovec> vectors, const address& to) const noexcept {
        return send_message(vectors, to);
    }
    /// Receives one message. Value: a `datagram` with the address of the sender.
    auto recv_from(std::span<std::byte> buffer) const noexcept {
        return receive_into(buffer, true);
    }
    auto recv_from(std::span<const iovec> vectors) const noexcept {
        return receive_into(vectors, true);
    }
    /// Makes `to` the peer: send() sends there, and only messages from there are received.
    auto connect(const address& to) const noexcept {
        return io_sender<detail::connecting_existing>(
            home(), eddy::connect(descriptor_, nullptr, 0), detail::connecting_existing{{}, to});
    }

    // These overloads turn a wrong argument into a readable compile error.
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
