// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>

#include <system_error>

namespace eddy::tcp {

struct listen_options {
    /// Connections that wait to be accepted; the kernel cuts it to its own limit.
    int backlog = 4096;
    /// A server that was restarted does not wait for its old connections to be forgotten.
    bool reuse_address = true;
    /// Several sockets share the address, and the kernel spreads connections over them.
    bool reuse_port = false;
    /// An IPv6 socket takes no IPv4 connections.
    bool v6_only = false;
    /// Accepted sockets send small writes at once (TCP_NODELAY), which they inherit from the
    /// listener. False: a small write may wait for the acknowledgement of the one before it, 40 ms
    /// or longer. To gather small writes into one segment, use buffered().
    bool no_delay = true;
};

/// A listening socket as a bare fd. Anything but IPv4 and IPv6 is `address_family_not_supported`.
EDDY_API std::error_code open_listener(const address& where, const listen_options& options,
                                       unique_fd& out) noexcept;

}  // namespace eddy::tcp
