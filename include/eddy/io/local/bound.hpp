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
    /// A socket that has the path already is removed first. Without it: `address_in_use`.
    bool replace = false;
    /// Acceptors: connections that wait to be accepted.
    int backlog = 4096;
};

EDDY_EX_BEGIN

/// A `Base` with a name. The path that binding it made in the file system is removed when it is
/// closed or destroyed, if it is still this one's, and not in a child after fork. release() leaves
/// it there for whoever has the fd then.
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

/// Listens for connections inside the machine.
///
///     local::acceptor acceptor(loop, address::from("unix:/run/app.sock"), {.replace = true});
///     local::stream peer = co_await acceptor.accept();
template <class Socket>
class basic_acceptor : public bound<acceptor_of<Socket>> {
public:
    using bound<acceptor_of<Socket>>::bound;

    /// Throws std::system_error with the address in its message.
    basic_acceptor(loop& home, const address& where, bind_options options = {}) {
        detail::throw_if(listen(home, where, *this, options), "local::acceptor", where);
    }
    /// The same without exceptions: `out` is unchanged on error.
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

/// Messages inside the machine, to anybody and reliably: sending waits while the receiver is full.
///
///     local::datagram inbox(loop, address::from("unix:@app"));
///     datagram got = co_await inbox.recv_from(bytes(buffer));
class datagram : public bound<socket_of<datagram_socket>> {
public:
    static constexpr int type = SOCK_DGRAM;
    using bound::bound;

    /// With the name `where`; `unix:` has none and can only send. Throws std::system_error.
    datagram(loop& home, const address& where, bind_options options = {}) {
        detail::throw_if(open(home, where, *this, options), "local::datagram", where);
    }
    /// The same without exceptions: `out` is unchanged on error.
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
