// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cstddef>
#include <span>

#include <sys/socket.h>

/// Descriptors in the control part of a message.
namespace eddy::detail {

/// Room for the control part of a message with `Count` descriptors.
template <std::size_t Count>
struct fd_control {
    /// Without the padding behind them, in which the kernel would put one more.
    static constexpr std::size_t size = CMSG_LEN(Count * sizeof(int));

    alignas(cmsghdr) std::byte space[CMSG_SPACE(Count * sizeof(int))] = {};
};

/// Writes `fds` into the control part of `message`, which has room for them.
EDDY_API void put_fds(msghdr& message, std::span<const int> fds) noexcept;
/// Takes the descriptors out of the control part of a received message and returns how many came.
/// What `out` has no room for is closed.
EDDY_API std::size_t take_fds(msghdr& message, std::span<unique_fd> out) noexcept;

}  // namespace eddy::detail
