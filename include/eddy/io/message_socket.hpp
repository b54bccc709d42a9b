#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/datagram.hpp>
#include <eddy/io/detail/connecting.hpp>
#include <eddy/io/detail/message_converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <span>

namespace eddy {
EDDY_EX_BEGIN

/// A socket that keeps message boundaries and has a peer. Buffers must live until the operation has
/// completed.
class message_socket : public socket_of<io_handle> {
public:
    static constexpr descriptor_kind kind = descriptor_kind::datagram;
    using socket_of::socket_of;

    /// Value: the size of the message; it is sent as a whole or not at all.
    auto send(std::span<const std::byte> buffer) const noexcept {
        return io_sender<as_count>(home(), eddy::send(descriptor_, buffer));
    }
    /// Value: a `datagram`, which says whether it was cut.
    auto recv(std::span<std::byte> buffer) const noexcept { return receive_into(buffer, false); }

protected:
    io_sender<detail::receiving> receive_into(std::span<std::byte> buffer,
                                              bool with_address) const noexcept {
        detail::receiving convert(buffer, with_address);
        return {home(), eddy::recvmsg(descriptor_, convert.header), convert};
    }
};

/// A message socket that can talk to anybody.
class datagram_socket : public message_socket {
public:
    using message_socket::message_socket;

    /// Value: the size of the message. The address is copied.
    auto send_to(std::span<const std::byte> buffer, const address& to) const noexcept {
        detail::sending_to convert(buffer, to);
        return io_sender<detail::sending_to>(home(), eddy::sendmsg(descriptor_, convert.header),
                                             convert);
    }
    /// Value: a `datagram` with the address of the sender.
    auto recv_from(std::span<std::byte> buffer) const noexcept {
        return receive_into(buffer, true);
    }
    /// From now on send() goes to `to`, and only messages from there are received.
    auto connect(const address& to) const noexcept {
        return io_sender<detail::connecting_existing>(
            home(), eddy::connect(descriptor_, nullptr, 0), detail::connecting_existing{{}, to});
    }
};

EDDY_EX_END
}  // namespace eddy
