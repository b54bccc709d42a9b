#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/attach_socket.hpp>
#include <eddy/io/message_socket.hpp>

#include <system_error>
#include <utility>

namespace eddy::udp {
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

    /// Bound to `where`; with port 0 the kernel chooses one. Throws std::system_error with the
    /// address in its message.
    socket(loop& home, const address& where) {
        detail::throw_if(open(home, where, *this), "udp::socket", where);
    }
    /// The same without exceptions: `out` is unchanged on error.
    static std::error_code open(loop& home, const address& where, socket& out) noexcept {
        unique_fd fd;
        if (auto error = detail::open_for<socket>(where, fd)) {
            return error;
        }
        if (auto error = detail::bind_socket(fd.get(), where)) {
            return error;
        }
        return adopt(home, fd, out, {.kind = kind});
    }
    /// For a socket that was made elsewhere or is to have options before it is bound.
    std::error_code bind(const address& where) const noexcept {
        return detail::bind_socket(native_handle(), where);
    }
};

EDDY_EX_END
}  // namespace eddy::udp
