// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sys/socket.h>

namespace eddy::test {

/// What a peer has got by now, without the loop and without waiting.
inline std::string received_by(int socket) {
    std::string all(4096, '\0');
    const auto size = ::recv(socket, all.data(), all.size(), MSG_DONTWAIT);
    all.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return all;
}

}  // namespace eddy::test
