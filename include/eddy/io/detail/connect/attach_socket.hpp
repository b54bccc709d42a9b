// SPDX-License-Identifier: Apache-2.0

// Opens sockets for the family of an address, and attaches them to a loop.
#pragma once

#include <eddy/base/unique_fd.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/connect/socket_calls.hpp>
#include <eddy/loop/descriptor.hpp>

#include <system_error>

namespace eddy::detail {
EDDY_EX_BEGIN

/// Opens an fd for a `Socket` that is to have, or to reach, the address `where`.
template <class Socket>
std::error_code open_for(const address& where, unique_fd& out) noexcept {
    if (!Socket::takes(where.family())) {
        return std::make_error_code(std::errc::address_family_not_supported);
    }
    return open_socket(where.family(), Socket::type, out);
}

template <class Socket>
std::error_code attach_socket(loop& home, const address& where, bool no_delay,
                              descriptor& out) noexcept {
    unique_fd fd;
    if (auto error = open_for<Socket>(where, fd)) {
        return error;
    }
    if (auto error = no_delay ? set_no_delay(fd.get()) : std::error_code()) {
        return error;
    }
    return descriptor::attach(home, fd, out, {.kind = Socket::kind});
}

EDDY_EX_END
}  // namespace eddy::detail
