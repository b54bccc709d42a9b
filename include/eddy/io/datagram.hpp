// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>

#include <array>
#include <cstddef>

namespace eddy {

/// One received message.
struct datagram {
    std::size_t size = 0;    ///< number of bytes in the buffer
    bool truncated = false;  ///< the message was longer than the buffer; the rest is lost
    address from = {};       ///< the sender; empty if not asked for, or if the sender has no name
};

/// The bytes of a received message and its descriptors, at most `Max`, which are CLOEXEC.
template <std::size_t Max>
struct message_with_fds {
    std::size_t size = 0;
    bool truncated = false;
    std::size_t fd_count = 0;
    std::array<unique_fd, Max> fds = {};
};

}  // namespace eddy
