// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace eddy {

/// A set of conditions that a descriptor meets, or that a caller wants to know of. The values are
/// those of both poll and epoll, so no translation is needed.
enum class interest : std::uint32_t {
    none = 0,
    readable = 0x001,
    priority = 0x002,  ///< urgent data, or a condition of the device
    writable = 0x004,
    error = 0x008,        ///< reported even if not requested
    hangup = 0x010,       ///< reported even if not requested
    invalid = 0x020,      ///< poll only: the fd is not open
    peer_closed = 0x2000  ///< the peer will send no more
};

constexpr interest operator|(interest a, interest b) noexcept {
    return static_cast<interest>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr interest operator&(interest a, interest b) noexcept {
    return static_cast<interest>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
constexpr interest operator~(interest a) noexcept {
    return static_cast<interest>(~static_cast<std::uint32_t>(a));
}
constexpr interest& operator|=(interest& a, interest b) noexcept { return a = a | b; }
constexpr interest& operator&=(interest& a, interest b) noexcept { return a = a & b; }
constexpr bool any(interest a) noexcept { return a != interest::none; }

}  // namespace eddy
