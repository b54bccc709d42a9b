// SPDX-License-Identifier: Apache-2.0

// Implements making sockets and pipes, and their options and addresses.
#include "kernel/socket.hpp"

#include "kernel/own_fd.hpp"
#include "kernel/retried.hpp"

#include <utility>

#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

/// Keeps both ends or neither: after an error the ends are closed, and `a` and `b` are unchanged.
std::error_code keep_own(const int (&ends)[2], unique_fd& a, unique_fd& b) noexcept {
    unique_fd first(ends[0]);
    unique_fd second(ends[1]);
    if (auto error = move_from_standard(first)) {
        return error;
    }
    if (auto error = move_from_standard(second)) {
        return error;
    }
    a = std::move(first);
    b = std::move(second);
    return {};
}

}  // namespace

std::error_code make_socket(int family, int type, int protocol, unique_fd& out) noexcept {
    const io_result made = keep_off_standard(
        retried(call::socket, [&] { return ::socket(family, type | SOCK_CLOEXEC, protocol); }));
    if (made) {
        out.reset(made.fd());
    }
    return made.error();
}

std::error_code make_socket_pair(int family, int type, unique_fd& a, unique_fd& b) noexcept {
    int ends[2];
    const io_result made =
        retried(call::socket, [&] { return ::socketpair(family, type | SOCK_CLOEXEC, 0, ends); });
    return made ? keep_own(ends, a, b) : made.error();
}

std::error_code make_pipe(unique_fd& reader, unique_fd& writer) noexcept {
    int ends[2];
    const io_result made = retried(call::pipe, [&] { return ::pipe2(ends, O_CLOEXEC); });
    return made ? keep_own(ends, reader, writer) : made.error();
}

std::error_code bind(int fd, const sockaddr* address, socklen_t length) noexcept {
    return retried(call::bind, [&] { return ::bind(fd, address, length); }).error();
}

std::error_code listen(int fd, int backlog) noexcept {
    return retried(call::listen, [&] { return ::listen(fd, backlog); }).error();
}

std::error_code local_address(int fd, sockaddr* address, socklen_t* length) noexcept {
    return retried(call::getsockname, [&] { return ::getsockname(fd, address, length); }).error();
}

std::error_code peer_address(int fd, sockaddr* address, socklen_t* length) noexcept {
    return retried(call::getpeername, [&] { return ::getpeername(fd, address, length); }).error();
}

std::error_code set_option(int fd, int level, int name, const void* value,
                           socklen_t length) noexcept {
    return retried(call::setsockopt, [&] { return ::setsockopt(fd, level, name, value, length); })
        .error();
}

std::error_code get_option(int fd, int level, int name, void* value, socklen_t& length) noexcept {
    return retried(call::getsockopt, [&] { return ::getsockopt(fd, level, name, value, &length); })
        .error();
}

std::error_code interface_index(const char* name, std::uint32_t& out) noexcept {
    // The C library opens a socket, asks it, and closes it.
    const io_result found = once(call::socket, [&] {
        const unsigned index = ::if_nametoindex(name);
        return index == 0 ? -1 : static_cast<int>(index);
    });
    if (found) {
        out = static_cast<std::uint32_t>(found.raw());
    }
    return found.error();
}

}  // namespace eddy::kernel
