// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>

#include <cstdint>

namespace eddy {

/// The kind of an fd. It decides what a short read or write proves, and how a call is kept from
/// blocking and from raising SIGPIPE.
enum class descriptor_kind : std::uint8_t {
    unknown,   ///< attaching finds out
    tcp,       ///< a short transfer means drained or full, unless there is urgent data
    stream,    ///< any other stream socket: only EAGAIN proves that it is drained
    datagram,  ///< a socket that keeps message boundaries
    pipe,      ///< a short write means full; packets may hide behind a short read
    tty,
    file,   ///< always ready: regular files, directories, block devices, and what epoll refuses
    other,  ///< eventfd, timerfd, signalfd, pidfd, inotify, character devices
};

EDDY_API const char* to_string(descriptor_kind kind) noexcept;

constexpr bool is_socket(descriptor_kind kind) noexcept {
    return kind == descriptor_kind::tcp || kind == descriptor_kind::stream ||
           kind == descriptor_kind::datagram;
}

}  // namespace eddy
