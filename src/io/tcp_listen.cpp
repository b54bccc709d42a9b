// SPDX-License-Identifier: Apache-2.0

// Opens listening TCP sockets.
#include <eddy/io/tcp/listen.hpp>

#include "kernel/socket.hpp"

#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace eddy::tcp {

namespace {

std::error_code set_flag(int fd, int level, int name, bool on) noexcept {
    const int value = on ? 1 : 0;
    return kernel::set_option(fd, level, name, &value, sizeof value);
}

std::error_code configure(int fd, int family, const listen_options& options) noexcept {
    if (auto error = set_flag(fd, SOL_SOCKET, SO_REUSEADDR, options.reuse_address)) {
        return error;
    }
    if (auto error = set_flag(fd, SOL_SOCKET, SO_REUSEPORT, options.reuse_port)) {
        return error;
    }
    if (auto error = set_flag(fd, IPPROTO_TCP, TCP_NODELAY, options.no_delay)) {
        return error;
    }
    return family == AF_INET6 ? set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, options.v6_only)
                              : std::error_code();
}

}  // namespace

std::error_code open_listener(const address& where, const listen_options& options,
                              unique_fd& out) noexcept {
    const int family = where.family();
    if (family != AF_INET && family != AF_INET6) {
        return std::make_error_code(std::errc::address_family_not_supported);
    }
    unique_fd made;
    if (auto error = kernel::make_socket(family, SOCK_STREAM, 0, made)) {
        return error;
    }
    if (auto error = configure(made.get(), family, options)) {
        return error;
    }
    if (auto error = kernel::bind(made.get(), where.native(), where.native_length())) {
        return error;
    }
    if (auto error = kernel::listen(made.get(), options.backlog)) {
        return error;
    }
    out = std::move(made);
    return {};
}

}  // namespace eddy::tcp
