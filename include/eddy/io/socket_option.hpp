// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <type_traits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace eddy {

/// A socket option, named by its type. `Value` is the type that the kernel takes; a bool is passed
/// as an int. Other options than those below take one line:
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
/// Buffer sizes in bytes. The kernel doubles the value that it is given and caps it at its limits.
using send_buffer = socket_option<SOL_SOCKET, SO_SNDBUF, int>;
using receive_buffer = socket_option<SOL_SOCKET, SO_RCVBUF, int>;
using linger = socket_option<SOL_SOCKET, SO_LINGER, ::linger>;

/// Makes a close send a reset and drop unsent data.
inline constexpr linger reset_on_close{{.l_onoff = 1, .l_linger = 0}};

}  // namespace option

}  // namespace eddy
