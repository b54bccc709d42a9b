// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/connect/connecting.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/io/tcp/connect_options.hpp>

namespace eddy::tcp {
EDDY_EX_BEGIN

/// A TCP connection.
///
///     tcp::socket peer = co_await tcp::connect(loop, address::from("127.0.0.1:80"));
///     co_await peer.write(bytes("GET / HTTP/1.0\r\n\r\n"));
///     char answer[4096];
///     std::size_t n = co_await peer.read_some(bytes(answer));
///     co_await peer.close();
///
/// The socket sends small writes at once (TCP_NODELAY), unless connect_options or listen_options
/// say otherwise. A socket that is adopted as an fd keeps its options.
class socket : public stream_socket {
public:
    static constexpr descriptor_kind kind = descriptor_kind::tcp;
    static constexpr int type = SOCK_STREAM;
    static constexpr bool takes(int family) noexcept {
        return family == AF_INET || family == AF_INET6;
    }

    using stream_socket::stream_socket;
};

/// Connects to `to`, which is copied. Value: a tcp::socket on `home`, made when the operation
/// starts. `address_family_not_supported` if `to` is no IPv4 or IPv6 address.
inline auto connect(loop& home, const address& to, connect_options options = {}) noexcept {
    using steps = detail::connecting<socket>;
    return detail::steps_sender<steps>(&home, steps{&home, to, "tcp::connect", options.no_delay});
}

EDDY_EX_END
}  // namespace eddy::tcp
