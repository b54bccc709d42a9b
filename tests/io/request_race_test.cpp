// SPDX-License-Identifier: Apache-2.0
// "A result that exists is delivered", and nothing is lost: for each kind of request.
#include "io/racers.hpp"

#include <array>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::request_race_test {
namespace {

using pipe_reader = reader<descriptor, make_pipe>;
using socket_reader = reader<descriptor, unix_stream_pair>;
using full_pipe = page_pipe<descriptor>;

struct reads_some : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() { return read(own_, std::span(buffer_).first(16)); }
};
struct reads_all : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() { return read_all(own_, std::span(buffer_).first(8)); }
};
struct receives_some : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() { return recv(own_, std::span(buffer_).first(16)); }
};
struct receives_all : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() { return recv_all(own_, std::span(buffer_).first(8)); }
};
struct receives_vectors : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() {
        vectors_ = {iovec{buffer_.data(), 3}, iovec{buffer_.data() + 3, 13}};
        return readv(own_, vectors_);
    }
    std::array<iovec, 2> vectors_{};
};

struct one_message {
    msghdr& of(std::span<std::byte> buffer) {
        vector_ = {buffer.data(), 16};
        header_ = {};
        header_.msg_iov = &vector_;
        header_.msg_iovlen = 1;
        return header_;
    }

private:
    iovec vector_{};
    msghdr header_{};
};

struct receives_message : message_reader<descriptor> {
    using message_reader::message_reader;
    io_request prepare() { return recvmsg(own_, message_.of(buffer_)); }
    one_message message_;
};
struct sends_message : message_writer<descriptor> {
    using message_writer::message_writer;
    io_request prepare() {
        fill();
        return sendmsg(own_, message_.of(buffer_));
    }
    one_message message_;
};

struct writes_some : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() {
        fill();
        return write(own_, std::span(buffer_).first(64));
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(take_all(), page + count_of(result));
    }
};
struct writes_all : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() { return write_all(own_, buffer_); }
};
struct writes_vectors : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() {
        vectors_ = {iovec{buffer_.data(), 100}, iovec{buffer_.data() + 100, 2 * page - 100}};
        return writev_all(own_, vectors_);
    }
    std::array<iovec, 2> vectors_{};
};
struct waits_until_writable : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() {
        fill();
        return wait(own_, interest::writable);
    }
    void check(std::optional<int>) override { ASSERT_EQ(take_all(), page); }
};

struct waits_until_readable : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() { return wait(own_, interest::readable); }
    void check(std::optional<int> result) override {
        EXPECT_TRUE(!result || (*result & static_cast<int>(interest::readable)) != 0);
        pipe_reader::check(std::nullopt);
    }
};

struct sends_all : narrow_socket<descriptor> {
    using narrow_socket::narrow_socket;
    io_request prepare() { return send_all(own_, buffer_); }
};
struct sends_file : narrow_socket<descriptor> {
    explicit sends_file(eddy::loop& home)
        : narrow_socket(home), file_(::memfd_create("race", MFD_CLOEXEC)) {
        EXPECT_EQ(::ftruncate(file_.get(), 2 * page), 0);
    }
    io_request prepare() { return send_file(own_, file_.get(), 0, 2 * page); }
    unique_fd file_;
};

struct accepts : listening_racer<descriptor> {
    using listening_racer::listening_racer;
    io_request prepare() { return accept(listener_); }
    void check(std::optional<int> result) override {
        const int listener = listener_.native_handle();
        ASSERT_NE(ready(listener, POLLIN), result.has_value());
        const unique_fd connection(result ? *result : ::accept(listener, nullptr, nullptr));
        expect_connected(connection.get());
    }
};

class connects : public connecting_racer {
public:
    explicit connects(eddy::loop& home) : connecting_racer(home) {
        where_.sin_family = AF_INET;
        where_.sin_port = htons(listener_.port());
        where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    io_request prepare() {
        unique_fd client = tcp_socket();
        reset_on_close(client.get());
        client_ = descriptor(home_, std::move(client));
        return connect(client_, reinterpret_cast<const sockaddr*>(&where_), sizeof where_);
    }
    void check(std::optional<int> result) override {
        if (result) {
            EXPECT_TRUE(ready(client_.native_handle(), POLLOUT));
        }
        client_.close();
        take_all();
    }

private:
    sockaddr_in where_{};
    descriptor client_;
};

/// A new pair each time.
class shuts_down : public racer {
public:
    explicit shuts_down(eddy::loop& home) : home_(home) {}
    io_request prepare() {
        fd_pair pair = unix_stream_pair();
        own_ = descriptor(home_, std::move(pair.first));
        peer_ = std::move(pair.second);
        return shutdown(own_, SHUT_WR);
    }
    void check(std::optional<int> result) override {
        std::array<char, 1> sink;
        const bool ended = ::recv(peer_.get(), sink.data(), sink.size(), MSG_DONTWAIT) == 0;
        ASSERT_EQ(ended, result.has_value());
        own_.close();
        home_.poll();
    }

private:
    eddy::loop& home_;
    descriptor own_;
    unique_fd peer_;
};

struct reads_file : file_reader<descriptor> {
    using file_reader::file_reader;
    io_request prepare() { return read_all(file_, buffer_, 0); }
};
struct writes_file : file_writer<descriptor> {
    using file_writer::file_writer;
    io_request prepare() { return write_all(file_, buffer_, 8); }
};
struct syncs : file_racer<descriptor> {
    using file_racer::file_racer;
    io_request prepare() { return fsync(file_); }
    void check(std::optional<int> result) override { EXPECT_EQ(result.value_or(0), 0); }
};

struct opens : racer {
    explicit opens(eddy::loop&) {}
    io_request prepare() { return open("/dev/null", O_RDWR); }
    void check(std::optional<int> result) override {
        if (result) {
            EXPECT_TRUE(is_cloexec(*result));
            unique_fd(*result).reset();
        }
    }
};

class RequestRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(RequestRace);
class LongRequestRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(LongRequestRace);

EDDY_RACE(RequestRace, ReadSome, reads_some)
EDDY_RACE(RequestRace, ReadAll, reads_all)
EDDY_RACE(RequestRace, Receive, receives_some)
EDDY_RACE(RequestRace, ReceiveAll, receives_all)
EDDY_RACE(RequestRace, ReadVectors, receives_vectors)
EDDY_RACE(RequestRace, ReceiveMessage, receives_message)
EDDY_RACE(RequestRace, SendMessage, sends_message)
EDDY_RACE(RequestRace, WriteSome, writes_some)
EDDY_RACE(RequestRace, WriteAll, writes_all)
EDDY_RACE(RequestRace, WriteVectors, writes_vectors)
EDDY_RACE(RequestRace, SendAll, sends_all)
EDDY_RACE(RequestRace, SendFile, sends_file)
EDDY_RACE(RequestRace, ReadFile, reads_file)
EDDY_RACE(RequestRace, WriteFile, writes_file)
EDDY_RACE(RequestRace, WaitReadable, waits_until_readable)
EDDY_RACE(RequestRace, WaitWritable, waits_until_writable)
EDDY_RACE(RequestRace, Accept, accepts)
EDDY_RACE(RequestRace, Connect, connects)
EDDY_RACE(RequestRace, Shutdown, shuts_down)
EDDY_RACE(RequestRace, Sync, syncs)
EDDY_RACE(RequestRace, Open, opens)

}  // namespace
}  // namespace eddy::test::request_race_test
