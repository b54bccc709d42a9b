// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/acceptor.hpp>
#include <eddy/io/detail/connect/attach_socket.hpp>
#include <eddy/io/detail/connect/bound_path.hpp>
#include <eddy/io/local/socket.hpp>

#include <system_error>
#include <utility>

namespace eddy::local {

struct bind_options {
    /// Removes an existing socket of that path first. If false, the error is `address_in_use`.
    bool replace = false;
    /// Acceptors only: limit of connections that wait to be accepted.
    int backlog = 4096;
};

EDDY_EX_BEGIN

/// A `Base` that is bound to a name. Closing or destroying it removes the path that it made in the
/// file system, unless another socket has the path by now or this is a child after fork. release()
/// leaves the path there for the new owner of the fd.
template <class Base>
class bound : public Base {
public:
    using Base::Base;

    std::error_code release(unique_fd& out) noexcept {
        const auto error = Base::release(out);
        if (!error) {
            path_.keep();
        }
        return error;
    }
    [[nodiscard]] auto close() noexcept {
        path_.remove();
        return Base::close();
    }

protected:
    detail::bound_path path_;
};

/// A listening socket for connections inside the machine.
///
///     local::acceptor acceptor(loop, address::from("unix:/run/app.sock"), {.replace = true});
///     local::stream peer = co_await acceptor.accept();
template <class Socket>
class basic_acceptor : public bound<acceptor_of<Socket>> {
public:
    using bound<acceptor_of<Socket>>::bound;

    /// Listens on `where`. Throws std::system_error with the address in its message.
    basic_acceptor(loop& home, const address& where, bind_options options = {}) {
        detail::throw_if(listen(home, where, *this, options), "local::acceptor", where);
    }
    /// Listens on `where` without exceptions. On error `out` is unchanged.
    static std::error_code listen(loop& home, const address& where, basic_acceptor& out,
                                  bind_options options = {}) noexcept {
        unique_fd fd;
        if (auto error = detail::open_for<Socket>(where, fd)) {
            return error;
        }
        detail::bound_path path;
        if (auto error = detail::bound_path::bind(fd.get(), where, options.replace, path)) {
            return error;
        }
        if (auto error = detail::listen_on(fd.get(), options.backlog)) {
            return error;
        }
        const auto error = adopt(home, fd, out, {.kind = Socket::kind});
        if (!error) {
            out.path_ = std::move(path);
        }
        return error;
    }
};

using acceptor = basic_acceptor<stream>;
using seqpacket_acceptor = basic_acceptor<seqpacket>;

/// A socket for reliable messages inside the machine. A send waits while the receiver is full.
///
///     local::datagram inbox(loop, address::from("unix:@app"));
///     datagram got = co_await inbox.recv_from(bytes(buffer));
class datagram : public bound<socket_of<datagram_socket>> {
public:
    static constexpr int type = SOCK_DGRAM;
    using bound::bound;

    /// Binds to `where`; `unix:` gives no name and can only send. Throws std::system_error.
    datagram(loop& home, const address& where, bind_options options = {}) {
        detail::throw_if(open(home, where, *this, options), "local::datagram", where);
    }
    /// Binds to `where` without exceptions. On error `out` is unchanged.
    static std::error_code open(loop& home, const address& where, datagram& out,
                                bind_options options = {}) noexcept {
        unique_fd fd;
        if (auto error = detail::open_for<datagram>(where, fd)) {
            return error;
        }
        detail::bound_path path;
        if (!where.path().empty()) {
            if (auto error = detail::bound_path::bind(fd.get(), where, options.replace, path)) {
                return error;
            }
        }
        const auto error = adopt(home, fd, out, {.kind = kind});
        if (!error) {
            out.path_ = std::move(path);
        }
        return error;
    }
};

EDDY_EX_END
}  // namespace eddy::local
