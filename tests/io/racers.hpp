// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/request_race.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/// What racers have in common, whether they race a bare request on a `descriptor` or a sender of a
/// handle: all but prepare().
namespace eddy::test {

inline constexpr std::size_t page = 4096;

/// How many bytes could be read from a non-blocking fd, which has none after this.
inline std::size_t drain(int fd) {
    std::array<char, 2 * page> sink;
    std::size_t total = 0;
    for (ssize_t n = 0; (n = ::read(fd, sink.data(), sink.size())) > 0;) {
        total += static_cast<std::size_t>(n);
    }
    return total;
}

inline bool ready(int fd, short events) { return becomes_ready(fd, events, 0); }

inline std::size_t count_of(std::optional<int> result) {
    return static_cast<std::size_t>(result.value_or(0));
}

/// The operation's end of a pair is on the loop; the other one is not, and does not block.
template <class Handle>
class pair_racer : public racer {
protected:
    pair_racer(eddy::loop& home, unique_fd mine, unique_fd theirs)
        : home_(home), peer_(std::move(theirs)), own_(home, std::move(mine)) {
        set_nonblocking(peer_.get(), true);
    }
    int fd() const { return own_.native_handle(); }
    void shrink_send_buffer() const {
        const int least = 1;
        EXPECT_EQ(::setsockopt(fd(), SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
    }

    eddy::loop& home_;
    unique_fd peer_;
    Handle own_;
    std::array<std::byte, 2 * page> buffer_{};
};

/// Eight bytes arrive, in two pieces.
template <class Handle, pair_maker make_ends>
class reader : public pair_racer<Handle> {
public:
    explicit reader(eddy::loop& home, fd_pair pair = make_ends())
        : pair_racer<Handle>(home, std::move(pair.first), std::move(pair.second)) {}
    void trigger() override {
        EXPECT_EQ(::write(this->peer_.get(), "1234", 4), 4);
        EXPECT_EQ(::write(this->peer_.get(), "5678", 4), 4);
    }
    void check(std::optional<int> result) override {
        const std::size_t left = bytes_waiting(this->fd());
        ASSERT_EQ(count_of(result) + left, 8U);
        if (left != 0) {
            EXPECT_EQ(::read(this->fd(), this->buffer_.data(), left), static_cast<ssize_t>(left));
        }
    }
};

/// One message of seven bytes arrives.
template <class Handle>
class message_reader : public pair_racer<Handle> {
public:
    explicit message_reader(eddy::loop& home, fd_pair pair = unix_datagram_pair())
        : pair_racer<Handle>(home, std::move(pair.first), std::move(pair.second)) {}
    void trigger() override { EXPECT_EQ(::send(this->peer_.get(), "message", 7, 0), 7); }
    void check(std::optional<int> result) override {
        ASSERT_EQ(count_of(result) + bytes_waiting(this->fd()), 7U);
        if (!result) {
            EXPECT_EQ(::recv(this->fd(), this->buffer_.data(), 16, MSG_DONTWAIT), 7);
        }
    }
};

/// There is no room for a message of 16 bytes until the peer has taken others.
template <class Handle>
class message_writer : public pair_racer<Handle> {
public:
    explicit message_writer(eddy::loop& home, fd_pair pair = unix_datagram_pair())
        : pair_racer<Handle>(home, std::move(pair.first), std::move(pair.second)) {
        this->shrink_send_buffer();
    }
    void trigger() override {
        while (take()) {}
    }
    void check(std::optional<int> result) override {
        trigger();
        EXPECT_EQ(filled_, 0U);
        ASSERT_EQ(messages_, result ? 1U : 0U);
        messages_ = 0;
    }

protected:
    void fill() {
        while (::send(this->fd(), "fill", 4, MSG_DONTWAIT) == 4) {
            ++filled_;
        }
    }

private:
    bool take() {
        std::array<char, 32> sink;
        const ssize_t n = ::recv(this->peer_.get(), sink.data(), sink.size(), MSG_DONTWAIT);
        filled_ -= n == 4 ? 1U : 0U;
        messages_ += n == 16 ? 1U : 0U;
        return n > 0;
    }

    std::size_t filled_ = 0;
    std::size_t messages_ = 0;
};

/// A pipe of one page. Each check() expects what was written by the operation.
template <class Handle>
class page_pipe : public pair_racer<Handle> {
public:
    explicit page_pipe(eddy::loop& home, fd_pair pair = make_pipe())
        : pair_racer<Handle>(home, std::move(pair.second), std::move(pair.first)) {
        EXPECT_EQ(::fcntl(this->peer_.get(), F_SETPIPE_SZ, static_cast<int>(page)),
                  static_cast<int>(page));
    }
    void trigger() override {
        const ssize_t n = ::read(this->peer_.get(), sink_.data(), page);
        taken_ += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    void check(std::optional<int> result) override { ASSERT_EQ(take_all(), count_of(result)); }

protected:
    void fill() {
        EXPECT_EQ(::write(this->fd(), this->buffer_.data(), page), static_cast<ssize_t>(page));
    }
    std::size_t take_all() { return std::exchange(taken_, 0) + drain(this->peer_.get()); }

private:
    std::array<std::byte, page> sink_{};
    std::size_t taken_ = 0;
};

/// A socket that takes less than two pages at once.
template <class Handle>
class narrow_socket : public pair_racer<Handle> {
public:
    explicit narrow_socket(eddy::loop& home, fd_pair pair = unix_stream_pair())
        : pair_racer<Handle>(home, std::move(pair.first), std::move(pair.second)) {
        this->shrink_send_buffer();
    }
    void trigger() override { taken_ += drain(this->peer_.get()); }
    void check(std::optional<int> result) override {
        trigger();
        ASSERT_EQ(std::exchange(taken_, 0), count_of(result));
    }

private:
    std::size_t taken_ = 0;
};

/// A listener without a file, and without the ports that TCP connections use up; and one client.
template <class Handle>
class listening_racer : public racer {
public:
    explicit listening_racer(eddy::loop& home) {
        unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un any{};
        any.sun_family = AF_UNIX;
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof(sa_family_t)), 0);
        EXPECT_EQ(::listen(fd.get(), 8), 0);
        EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name_), &size_), 0);
        listener_ = Handle(home, std::move(fd));
    }
    void trigger() override {
        client_ = unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(client_.get(), reinterpret_cast<sockaddr*>(&name_), size_), 0);
    }

protected:
    /// `connection` is the other end of the client, which is closed then.
    void expect_connected(int connection) {
        EXPECT_EQ(::send(client_.get(), "x", 1, MSG_NOSIGNAL), 1);
        EXPECT_EQ(bytes_waiting(connection), 1U);
        client_.reset();
    }
    Handle listener_;

private:
    sockaddr_un name_{};
    socklen_t size_ = sizeof name_;
    unique_fd client_;
};

/// A TCP listener, and a new connection each time; reset, so that no port is kept.
class connecting_racer : public racer {
public:
    explicit connecting_racer(eddy::loop& home) : home_(home) {
        set_nonblocking(listener_.get(), true);
    }

protected:
    void take_all() {
        home_.poll();
        for (int fd = 0; (fd = ::accept(listener_.get(), nullptr, nullptr)) >= 0;) {
            unique_fd(fd).reset();
        }
    }
    eddy::loop& home_;
    tcp_listener listener_;
};

/// A file of eight bytes.
template <class Handle>
class file_racer : public racer {
public:
    explicit file_racer(eddy::loop& home)
        : file_(home, unique_fd(::memfd_create("race", MFD_CLOEXEC))) {
        EXPECT_EQ(::pwrite(file_.native_handle(), "12345678", 8, 0), 8);
    }

protected:
    Handle file_;
    std::array<std::byte, 8> buffer_{};
};

template <class Handle>
struct file_reader : file_racer<Handle> {
    using file_racer<Handle>::file_racer;
    void check(std::optional<int> result) override { EXPECT_EQ(result.value_or(8), 8); }
};
/// Eight bytes more.
template <class Handle>
struct file_writer : file_racer<Handle> {
    using file_racer<Handle>::file_racer;
    void check(std::optional<int> result) override {
        EXPECT_EQ(::lseek(this->file_.native_handle(), 0, SEEK_END), result ? 16 : 8);
        EXPECT_EQ(::ftruncate(this->file_.native_handle(), 8), 0);
    }
};

/// One test each in suite and Long##suite, which derive from RequestRaceTest.
#define EDDY_RACE(suite, name, racer_type)                      \
    TEST_P(suite, name) { race<racer_type>(ordinary_tries()); } \
    TEST_P(Long##suite, name) { race<racer_type>(long_tries()); }

}  // namespace eddy::test
