// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>

#include <system_error>

namespace eddy::tcp {

struct listen_options {
    /// Limit of connections that wait to be accepted; the kernel caps it.
    int backlog = 4096;
    /// Lets a restarted server bind while the kernel still remembers its old connections.
    bool reuse_address = true;
    /// Lets several sockets share the address; the kernel spreads connections over them.
    bool reuse_port = false;
    /// Restricts an IPv6 socket to IPv6 connections.
    bool v6_only = false;
    /// Lets accepted sockets send small writes at once: they inherit TCP_NODELAY from the listener.
    /// If false, a small write may wait for the acknowledgement of the one before it, 40 ms or
    /// longer. To gather small writes into one segment, use buffered().
    bool no_delay = true;
};

/// Opens a listening socket as a bare fd. `address_family_not_supported` if not IPv4 or IPv6.
EDDY_API std::error_code open_listener(const address& where, const listen_options& options,
                                       unique_fd& out) noexcept;

}  // namespace eddy::tcp
