#include "kernel/socket.hpp"

#include "kernel/call.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace eddy::kernel {

namespace {

std::error_code checked(int result) noexcept {
    count_call();
    return result >= 0 ? std::error_code() : std::error_code(errno, std::system_category());
}

}  // namespace

std::error_code make_socket(int family, int type, int protocol, unique_fd& out) noexcept {
    const int fd = ::socket(family, type | SOCK_CLOEXEC, protocol);
    const auto error = checked(fd);
    if (!error) {
        out.reset(fd);
    }
    return error;
}

std::error_code make_socket_pair(int family, int type, unique_fd& a, unique_fd& b) noexcept {
    int ends[2];
    const auto error = checked(::socketpair(family, type | SOCK_CLOEXEC, 0, ends));
    if (!error) {
        a.reset(ends[0]);
        b.reset(ends[1]);
    }
    return error;
}

std::error_code make_pipe(unique_fd& reader, unique_fd& writer) noexcept {
    int ends[2];
    const auto error = checked(::pipe2(ends, O_CLOEXEC));
    if (!error) {
        reader.reset(ends[0]);
        writer.reset(ends[1]);
    }
    return error;
}

std::error_code bind(int fd, const sockaddr* address, socklen_t length) noexcept {
    return checked(::bind(fd, address, length));
}

std::error_code listen(int fd, int backlog) noexcept { return checked(::listen(fd, backlog)); }

std::error_code local_address(int fd, sockaddr* address, socklen_t* length) noexcept {
    return checked(::getsockname(fd, address, length));
}

std::error_code peer_address(int fd, sockaddr* address, socklen_t* length) noexcept {
    return checked(::getpeername(fd, address, length));
}

std::error_code set_option(int fd, int level, int name, const void* value,
                           socklen_t length) noexcept {
    return checked(::setsockopt(fd, level, name, value, length));
}

std::error_code get_option(int fd, int level, int name, void* value, socklen_t& length) noexcept {
    return checked(::getsockopt(fd, level, name, value, &length));
}

}  // namespace eddy::kernel
