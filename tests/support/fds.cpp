// SPDX-License-Identifier: Apache-2.0
#include "support/fds.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

namespace eddy::test {

namespace {

int checked(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::system_category(), what);
    }
    return result;
}

std::size_t moved(ssize_t result, const char* what) {
    return static_cast<std::size_t>(checked(static_cast<int>(result), what));
}

void wait_for(int fd, short events) {
    if (!becomes_ready(fd, events)) {
        throw std::system_error(std::make_error_code(std::errc::timed_out), "a peer waits");
    }
}

sockaddr_in loopback(unsigned short port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

fd_pair unix_pair(int type) {
    int ends[2];
    checked(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), "socketpair");
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

}  // namespace

std::size_t open_fds() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
        ++count;
    }
    return count - 1;  // the directory itself
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
bool is_nonblocking(int fd) { return (checked(::fcntl(fd, F_GETFL), "F_GETFL") & O_NONBLOCK) != 0; }
bool is_cloexec(int fd) { return (checked(::fcntl(fd, F_GETFD), "F_GETFD") & FD_CLOEXEC) != 0; }

void set_nonblocking(int fd, bool on) {
    const int flags = checked(::fcntl(fd, F_GETFL), "F_GETFL");
    checked(::fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), "F_SETFL");
}

std::size_t bytes_waiting(int fd) {
    int count = 0;
    checked(::ioctl(fd, FIONREAD, &count), "FIONREAD");
    return static_cast<std::size_t>(count);
}

bool becomes_ready(int fd, short events, int limit_ms) {
    pollfd question{fd, events, 0};
    return checked(::poll(&question, 1, limit_ms), "poll") != 0;
}

void send_all(int fd, std::string_view data) {
    while (!data.empty()) {
        wait_for(fd, POLLOUT);
        data.remove_prefix(moved(::send(fd, data.data(), data.size(), MSG_NOSIGNAL), "send"));
    }
}

void write_all(int fd, std::string_view data) {
    while (!data.empty()) {
        wait_for(fd, POLLOUT);
        data.remove_prefix(moved(::write(fd, data.data(), data.size()), "write"));
    }
}

std::string recv_exactly(int fd, std::size_t size) {
    std::string result(size, '\0');
    std::size_t have = 0;
    while (have != size) {
        wait_for(fd, POLLIN);
        const std::size_t count = moved(::read(fd, result.data() + have, size - have), "read");
        if (count == 0) {
            throw std::system_error(std::make_error_code(std::errc::connection_reset), "too short");
        }
        have += count;
    }
    return result;
}

std::string read_to_end(int fd) {
    std::string result;
    std::array<char, 65536> buffer;
    for (;;) {
        wait_for(fd, POLLIN);
        const std::size_t count = moved(::read(fd, buffer.data(), buffer.size()), "read");
        if (count == 0) {
            return result;
        }
        result.append(buffer.data(), count);
    }
}

fd_pair make_pipe() {
    int ends[2];
    checked(::pipe2(ends, O_CLOEXEC), "pipe2");
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

fd_pair unix_stream_pair() { return unix_pair(SOCK_STREAM); }
fd_pair unix_packet_pair() { return unix_pair(SOCK_SEQPACKET); }
fd_pair unix_datagram_pair() { return unix_pair(SOCK_DGRAM); }

fd_pair tcp_pair() {
    const tcp_listener listener;
    unique_fd client = listener.connect();
    unique_fd server(checked(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4"));
    const int on = 1;
    for (const int fd : {client.get(), server.get()}) {
        checked(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
    }
    return {std::move(server), std::move(client)};
}

fd_pair make_pty() {
    int master = -1;
    int terminal = -1;
    checked(::openpty(&master, &terminal, nullptr, nullptr, nullptr), "openpty");
    fd_pair pair{unique_fd(master), unique_fd(terminal)};
    termios settings{};
    checked(::tcgetattr(terminal, &settings), "tcgetattr");
    settings.c_lflag |= ICANON;
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    checked(::tcsetattr(terminal, TCSANOW, &settings), "tcsetattr");
    return pair;
}

unique_fd make_eventfd(unsigned value) {
    return unique_fd(checked(::eventfd(value, EFD_CLOEXEC), "eventfd"));
}

tcp_listener::tcp_listener(int backlog) : fd_(tcp_socket()) {
    sockaddr_in address = loopback(0);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    checked(::bind(fd_.get(), generic, sizeof address), "bind");
    checked(::listen(fd_.get(), backlog), "listen");
    socklen_t size = sizeof address;
    checked(::getsockname(fd_.get(), generic, &size), "getsockname");
    port_ = ntohs(address.sin_port);
}

unique_fd tcp_listener::connect() const { return tcp_connect(port_); }

unique_fd tcp_socket() {
    return unique_fd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

unique_fd tcp_connect(unsigned short port) {
    unique_fd fd = tcp_socket();
    const sockaddr_in address = loopback(port);
    checked(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            "connect");
    return fd;
}

void reset_on_close(int fd) {
    const linger at_once{1, 0};
    checked(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "SO_LINGER");
}

scratch_directory::scratch_directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "eddy-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::system_error(errno, std::system_category(), "mkdtemp");
    }
    path_ = pattern;
}

scratch_directory::~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

unique_fd scratch_directory::file(std::string_view name, std::string_view content) const {
    unique_fd fd(
        checked(::open(path(name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "open"));
    write_all(fd.get(), content);
    checked(static_cast<int>(::lseek(fd.get(), 0, SEEK_SET)), "lseek");
    return fd;
}

std::string content_of(int fd) {
    std::string result(
        static_cast<std::size_t>(checked(static_cast<int>(::lseek(fd, 0, SEEK_END)), "lseek")),
        '\0');
    if (!result.empty()) {
        result.resize(moved(::pread(fd, result.data(), result.size(), 0), "pread"));
    }
    return result;
}

}  // namespace eddy::test
