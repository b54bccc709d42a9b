// SPDX-License-Identifier: Apache-2.0
#pragma once

// What both asio servers share: a context without locks (one thread), and sockets whose executor is
// known to the compiler instead of type-erased. Both wait for readiness and then read by themselves
// into one buffer for all: as fast as async_read_some (whose first try fails, one syscall; arming
// the wait is one epoll_ctl), faster with long messages, and no buffer for each idle connection.

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
