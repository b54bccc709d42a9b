// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/acceptor.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/tcp/listen.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <system_error>
#include <utility>

namespace eddy::tcp {
EDDY_EX_BEGIN

/// A listening TCP socket.
///
///     tcp::acceptor acceptor(loop, address::loopback_v4(8080));
///     loop.run(serve_each(std::move(acceptor), session));    // eddy/async/serve_each.hpp
///
/// A listener that is adopted as an fd keeps its options: eddy sets TCP_NODELAY, which accepted
/// sockets inherit, only on listeners that it opens itself (listen_options::no_delay).
class acceptor : public acceptor_of<socket> {
public:
    using acceptor_of::acceptor_of;

    /// Listens on `where`. Throws std::system_error with the address in its message.
    acceptor(loop& home, const address& where, const listen_options& options = {}) {
        detail::throw_if(listen(home, where, *this, options), "tcp::acceptor", where);
    }
    /// Listens on `where` without exceptions. On error `out` is unchanged.
    static std::error_code listen(loop& home, const address& where, acceptor& out,
                                  const listen_options& options = {}) noexcept {
        unique_fd fd;
        if (auto error = open_listener(where, options, fd)) {
            return error;
        }
        return adopt(home, fd, out, {.kind = descriptor_kind::tcp});
    }
};

EDDY_EX_END
}  // namespace eddy::tcp
