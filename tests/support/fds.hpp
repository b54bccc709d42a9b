// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/unique_fd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Descriptors of every kind, made for tests. What fails throws std::system_error.
namespace eddy::test {

/// How many descriptors this process has open.
std::size_t open_fds();
bool is_open(int fd);
bool is_nonblocking(int fd);
bool is_cloexec(int fd);
void set_nonblocking(int fd, bool on);
/// What could be read at once (FIONREAD).
std::size_t bytes_waiting(int fd);

/// Blocking calls of a peer, with a limit of some seconds: what does not happen throws.
void send_all(int fd, std::string_view data);
void write_all(int fd, std::string_view data);
/// Exactly `size` bytes.
std::string recv_exactly(int fd, std::size_t size);
/// Whatever comes until the end of the stream.
std::string read_to_end(int fd);
/// Whether the fd becomes ready for `events` (POLLIN, ...) within the limit.
bool becomes_ready(int fd, short events, int limit_ms = 30000);

struct fd_pair {
    unique_fd first;
    unique_fd second;
};

using pair_maker = fd_pair (*)();

/// `first` is the end to read from, `second` the one to write to.
fd_pair make_pipe();
fd_pair unix_stream_pair();
fd_pair unix_packet_pair();
fd_pair unix_datagram_pair();
/// Both ends connected; `first` is the accepted one.
fd_pair tcp_pair();
/// `first` is the master, `second` the terminal, in canonical mode without echo.
fd_pair make_pty();

unique_fd make_eventfd(unsigned value = 0);

/// A listener on the loopback address.
class tcp_listener {
public:
    explicit tcp_listener(int backlog = 1024);
    unsigned short port() const noexcept { return port_; }
    int get() const noexcept { return fd_.get(); }
    unique_fd take() noexcept { return std::move(fd_); }
    /// A connected client. Blocking.
    unique_fd connect() const;

private:
    unique_fd fd_;
    unsigned short port_ = 0;
};

unique_fd tcp_socket();
unique_fd tcp_connect(unsigned short port);
/// Closing it sends a reset instead of an end of stream.
void reset_on_close(int fd);

/// A directory that is removed with all that is in it.
class scratch_directory {
public:
    scratch_directory();
    ~scratch_directory();
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
    /// A new file with that content, open for reading and writing.
    unique_fd file(std::string_view name, std::string_view content = {}) const;

private:
    std::string path_;
};

/// The content of a file from its beginning.
std::string content_of(int fd);

}  // namespace eddy::test
