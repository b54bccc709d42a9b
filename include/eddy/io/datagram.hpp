// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>
#include <eddy/io/address.hpp>

#include <array>
#include <cstddef>

namespace eddy {

/// One message that was received.
struct datagram {
    std::size_t size = 0;    ///< bytes in the buffer
    bool truncated = false;  ///< it was longer than the buffer; the rest is lost
    address from = {};       ///< none unless it was asked for, or if the sender has no name
};

/// Bytes and the descriptors that came with them, at most `Max`. They are CLOEXEC.
template <std::size_t Max>
struct message_with_fds {
    std::size_t size = 0;
    bool truncated = false;
    std::size_t fd_count = 0;
    std::array<unique_fd, Max> fds = {};
};

}  // namespace eddy
