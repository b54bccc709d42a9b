// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <type_traits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace eddy {

/// An option of a socket, named by its type. `Value` is what the kernel takes; a bool travels as an
/// int. Options that are not listed below are one line:
///
///     using quick_ack = socket_option<IPPROTO_TCP, TCP_QUICKACK, bool>;
///     if (auto error = socket.set_option(quick_ack{false})) { ... }
template <int Level, int Name, class Value>
struct socket_option {
    static_assert(std::is_trivially_copyable_v<Value>);
    static constexpr int level = Level;
    static constexpr int name = Name;
    using native_type = std::conditional_t<std::is_same_v<Value, bool>, int, Value>;

    Value value{};
};

namespace option {

using no_delay = socket_option<IPPROTO_TCP, TCP_NODELAY, bool>;
using keep_alive = socket_option<SOL_SOCKET, SO_KEEPALIVE, bool>;
using reuse_address = socket_option<SOL_SOCKET, SO_REUSEADDR, bool>;
using reuse_port = socket_option<SOL_SOCKET, SO_REUSEPORT, bool>;
using broadcast = socket_option<SOL_SOCKET, SO_BROADCAST, bool>;
using v6_only = socket_option<IPPROTO_IPV6, IPV6_V6ONLY, bool>;
/// In bytes. The kernel doubles what it is given and cuts it to its limits.
using send_buffer = socket_option<SOL_SOCKET, SO_SNDBUF, int>;
using receive_buffer = socket_option<SOL_SOCKET, SO_RCVBUF, int>;
using linger = socket_option<SOL_SOCKET, SO_LINGER, ::linger>;

/// Closing sends a reset and drops what was not sent.
inline constexpr linger reset_on_close{{.l_onoff = 1, .l_linger = 0}};

}  // namespace option

}  // namespace eddy
