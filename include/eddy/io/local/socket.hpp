// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/connect/bound_path.hpp>
#include <eddy/io/detail/connect/connecting.hpp>
#include <eddy/io/detail/convert/message_converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/message_socket.hpp>
#include <eddy/io/peer_credentials.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace eddy::local {
EDDY_EX_BEGIN

/// Adds the operations of sockets inside one machine: pass descriptors, identify the peer.
///
///     const int fds[] = {file.native_handle()};   // g++ 12 takes no braced list in a co_await
///     co_await socket.send_fds(bytes("log"), fds);
///     auto got = co_await peer.receive_fds<4>(bytes(buffer));
///     file log(loop, std::move(got.fds[0]));
template <class Base>
class socket_of : public Base {
public:
    static constexpr bool takes(int family) noexcept { return family == AF_UNIX; }
    using Base::Base;

    /// Sends bytes and descriptors, which go with the first byte. Value: the number of bytes, which
    /// may be less than given on a stream. Without any byte the error is `invalid_argument`. The
    /// fds must stay open until the operation has completed.
    template <std::size_t Count>
    auto send_fds(std::span<const std::byte> buffer, const int (&fds)[Count]) const noexcept {
        using convert = detail::sending_fds<Count>;
        convert sent(buffer, fds);
        return io_sender<convert>(this->home(), eddy::sendmsg(this->descriptor_, sent.header),
                                  sent);
    }
    /// Receives bytes and descriptors. Value: a message_with_fds<Max>, whose descriptors are never
    /// 0, 1 or 2. If more descriptors came, or this process can have no more, the error is
    /// `no_buffer_space`; then all of them are closed and the bytes are lost.
    template <std::size_t Max>
    auto receive_fds(std::span<std::byte> buffer) const noexcept {
        using convert = detail::receiving_fds<Max>;
        convert received(buffer);
        return io_sender<convert>(this->home(), eddy::recvmsg(this->descriptor_, received.header),
                                  received);
    }

    std::error_code credentials(peer_credentials& out) const noexcept {
        return detail::credentials_of(this->native_handle(), out);
    }
};

/// A local connection for bytes.
class stream : public socket_of<stream_socket> {
public:
    static constexpr descriptor_kind kind = descriptor_kind::stream;
    static constexpr int type = SOCK_STREAM;
    using socket_of::socket_of;
};

/// A local connection for messages, which arrive in order. An empty message marks the end.
class seqpacket : public socket_of<message_socket> {
public:
    static constexpr int type = SOCK_SEQPACKET;
    using socket_of::socket_of;
};

/// Connects to `to`, such as `address::from("unix:/run/app.sock")`. Value: a `Socket` on `home`.
template <class Socket = stream>
auto connect(loop& home, const address& to) noexcept {
    using steps = detail::connecting<Socket>;
    return detail::steps_sender<steps>(&home, steps{&home, to, "local::connect"});
}

/// Makes two sockets that are connected to each other. Throws std::system_error.
template <class Socket = stream>
std::pair<Socket, Socket> make_pair(loop& home) {
    unique_fd a;
    unique_fd b;
    detail::throw_if(detail::open_socket_pair(Socket::type, a, b), "local::make_pair");
    return {Socket(home, std::move(a), {.kind = Socket::kind}),
            Socket(home, std::move(b), {.kind = Socket::kind})};
}

EDDY_EX_END
}  // namespace eddy::local
