// SPDX-License-Identifier: Apache-2.0

// Puts descriptors into the control part of a message, and takes them out.
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/base/unique_fd.hpp>

#include <cstddef>
#include <span>

#include <sys/socket.h>

namespace eddy::detail {

/// Room for the control part of a message with `Count` descriptors.
template <std::size_t Count>
struct fd_control {
    /// Excludes the padding at the end, into which the kernel would put one more descriptor.
    static constexpr std::size_t size = CMSG_LEN(Count * sizeof(int));

    alignas(cmsghdr) std::byte space[CMSG_SPACE(Count * sizeof(int))] = {};
};

/// Writes `fds` into the control part of `message`, which must have room for them.
EDDY_API void put_fds(msghdr& message, std::span<const int> fds) noexcept;
/// Moves the descriptors of a received message into `out`, closes those that `out` has no room for,
/// and returns how many it moved. Sets MSG_CTRUNC if this process can have no more descriptors.
EDDY_API std::size_t take_fds(msghdr& message, std::span<unique_fd> out) noexcept;

}  // namespace eddy::detail
