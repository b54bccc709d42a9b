// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/connect/attach_socket.hpp>
#include <eddy/io/message_socket.hpp>
#include <eddy/loop/loop_group.hpp>

#include <cstddef>
#include <system_error>
#include <vector>

namespace eddy::udp {

struct bind_options {
    /// Lets several sockets share the address; the kernel spreads datagrams over them by sender.
    bool reuse_port = false;
};

EDDY_EX_BEGIN

/// A UDP socket.
///
///     udp::socket server(loop, address::loopback_v4(5353));
///     char query[512];
///     datagram got = co_await server.recv_from(bytes(query));
///     co_await server.send_to(bytes(query).first(got.size), got.from);
class socket : public datagram_socket {
public:
    static constexpr int type = SOCK_DGRAM;
    static constexpr bool takes(int family) noexcept {
        return family == AF_INET || family == AF_INET6;
    }

    using datagram_socket::datagram_socket;

    /// Binds to `where`; with port 0 the kernel chooses a port. Throws std::system_error with the
    /// address in its message.
    socket(loop& home, const address& where, const bind_options& options = {}) {
        detail::throw_if(open(home, where, *this, options), "udp::socket", where);
    }
    /// Binds to `where` without exceptions. On error `out` is unchanged.
    static std::error_code open(loop& home, const address& where, socket& out,
                                const bind_options& options = {}) noexcept {
        unique_fd fd;
        if (auto error = detail::open_for<socket>(where, fd)) {
            return error;
        }
        if (options.reuse_port) {
            const int on = 1;
            if (auto error =
                    detail::set_socket_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on)) {
                return error;
            }
        }
        if (auto error = detail::bind_socket(fd.get(), where)) {
            return error;
        }
        return adopt(home, fd, out, {.kind = kind});
    }
    /// Binds a socket that was made elsewhere, or that needs options before it is bound.
    std::error_code bind(const address& where) const noexcept {
        return detail::bind_socket(native_handle(), where);
    }
};

/// Makes one socket for each loop of the group, in the order of the loops, all on one address. The
/// kernel spreads datagrams over them (SO_REUSEPORT). With port 0 the first socket chooses the
/// port. Throws std::system_error.
///
/// Thread: before the group is started; then each socket belongs to the thread of its loop. The
/// sockets must not outlive the group, and may be destroyed after it was joined.
inline std::vector<socket> bind_on_each(loop_group& group, address where) {
    std::vector<socket> made;
    made.reserve(group.size());
    for (std::size_t i = 0; i != group.size(); ++i) {
        made.emplace_back(group.at(i), where, bind_options{.reuse_port = true});
        detail::throw_if(made.front().local_address(where), "udp::bind_on_each", where);
    }
    return made;
}

EDDY_EX_END
}  // namespace eddy::udp
