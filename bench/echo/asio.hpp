#pragma once

// What both asio servers share: a context without locks (one thread), and sockets whose executor is
// known to the compiler instead of type-erased.

#include <asio.hpp>

#include "echo/listener.hpp"

namespace bench {

using asio_executor = asio::io_context::executor_type;
using asio_socket = asio::basic_stream_socket<asio::ip::tcp, asio_executor>;
using asio_acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio_executor>;

inline asio_acceptor make_acceptor(asio::io_context& context, int port) {
    return asio_acceptor(context, asio::ip::tcp::v4(), listen_on(port));
}

}  // namespace bench
