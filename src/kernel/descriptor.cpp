// SPDX-License-Identifier: Apache-2.0

// Asks the kernel about an fd: its type, its identity and its flags.
#include "kernel/descriptor.hpp"

#include "kernel/once.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

io_result flags_of(int fd) noexcept {
    return once(call::fcntl, [&] { return ::fcntl(fd, F_GETFL); });
}

std::error_code status_of_fd(int fd, struct stat& out) noexcept {
    return once(call::fstat, [&] { return ::fstat(fd, &out); }).error();
}

int socket_option(int fd, int option) noexcept {
    int value = -1;
    socklen_t size = sizeof value;
    const io_result asked =
        once(call::getsockopt, [&] { return ::getsockopt(fd, SOL_SOCKET, option, &value, &size); });
    return asked ? value : -1;
}

file_type socket_type(int fd) noexcept {
    if (socket_option(fd, SO_TYPE) != SOCK_STREAM) {
        return file_type::message_socket;
    }
    return socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP ? file_type::tcp_socket
                                                         : file_type::stream_socket;
}

bool is_tty(int fd) noexcept {
    return once(call::isatty, [&] { return ::isatty(fd) != 0 ? 0 : -1; }).ok();
}

file_type type_of(int fd, mode_t mode) noexcept {
    switch (mode & S_IFMT) {
        case S_IFSOCK:
            return socket_type(fd);
        case S_IFIFO:
            return file_type::pipe;
        case S_IFREG:
        case S_IFDIR:
        case S_IFBLK:
            return file_type::file;
        case S_IFCHR:
            return is_tty(fd) ? file_type::tty : file_type::other;
        default:
            return file_type::other;
    }
}

/// A hash of device and inode number. Neighbouring inode numbers must give different results,
/// because a reused fd number often comes with a neighbouring inode.
std::uint32_t identity_of(const struct stat& status) noexcept {
    if ((status.st_mode & S_IFMT) == 0) {
        return 0;  // all anonymous inodes share one inode number
    }
    const std::uint64_t mixed = status.st_ino ^ (status.st_ino >> 32U) ^ (status.st_dev << 20U);
    return std::max(static_cast<std::uint32_t>(mixed), 1U);
}

}  // namespace

std::error_code examine(int fd, file_facts& facts) noexcept {
    struct stat status{};
    if (auto error = status_of_fd(fd, status)) {
        return error;
    }
    facts.type = type_of(fd, status.st_mode);
    facts.identity = identity_of(status);
    return {};
}

std::error_code identify(int fd, std::uint32_t& identity) noexcept {
    struct stat status{};
    if (auto error = status_of_fd(fd, status)) {
        return error;
    }
    identity = identity_of(status);
    return {};
}

std::error_code is_signalfd(int fd, bool& yes) noexcept {
    yes = false;
    std::uint32_t identity = 0;
    if (auto error = identify(fd, identity); error || identity != 0) {
        return error;
    }
    std::array<char, 32> path{};
    std::array<char, 32> target{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", fd);
    const io_result size =
        once(call::readlink, [&] { return ::readlink(path.data(), target.data(), target.size()); });
    yes = std::string_view(target.data(), size.count()) == "anon_inode:[signalfd]";
    return {};
}

int socket_domain(int fd) noexcept { return socket_option(fd, SO_DOMAIN); }

bool tells_of_rest(int fd) noexcept {
    if (socket_option(fd, SO_PROTOCOL) != IPPROTO_TCP) {
        return false;
    }
    char upper[16] = {};  // the kernel's limit for the name of a ULP
    socklen_t size = sizeof upper;
    const io_result asked = once(
        call::getsockopt, [&] { return ::getsockopt(fd, IPPROTO_TCP, TCP_ULP, upper, &size); });
    return asked.ok() && size == 0;
}

bool appends(int fd) noexcept {
    const io_result flags = flags_of(fd);
    return flags.ok() && (flags.raw() & O_APPEND) != 0;
}

bool is_nonblocking(int fd) noexcept {
    const io_result flags = flags_of(fd);
    return !flags.ok() || (flags.raw() & O_NONBLOCK) != 0;
}

std::error_code set_nonblocking(int fd, bool on, bool& was) noexcept {
    const io_result found = flags_of(fd);
    if (!found) {
        return found.error();
    }
    const int flags = static_cast<int>(found.raw());
    was = (flags & O_NONBLOCK) != 0;
    if (was == on) {
        return {};
    }
    const int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return once(call::fcntl, [&] { return ::fcntl(fd, F_SETFL, wanted); }).error();
}

}  // namespace eddy::kernel
