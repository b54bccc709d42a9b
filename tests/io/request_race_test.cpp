// "A result that exists is delivered", and nothing is lost: for each kind of I/O.
#include "io/request_race.hpp"

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace eddy::test {
namespace {

constexpr std::size_t page = 4096;

/// How many bytes could be read from a non-blocking fd, which has none after this.
std::size_t drain(int fd) {
    std::array<char, 2 * page> sink;
    std::size_t total = 0;
    for (ssize_t n = 0; (n = ::read(fd, sink.data(), sink.size())) > 0;) {
        total += static_cast<std::size_t>(n);
    }
    return total;
}

bool ready(int fd, short events) { return becomes_ready(fd, events, 0); }

std::size_t count_of(std::optional<int> result) {
    return static_cast<std::size_t>(result.value_or(0));
}

/// The operation's end of a pair is attached; the other one is not, and does not block.
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
    descriptor own_;
    std::array<std::byte, 2 * page> buffer_{};
};

/// Eight bytes arrive, in two pieces.
class reader : public pair_racer {
public:
    using pair_racer::pair_racer;
    void trigger() override {
        EXPECT_EQ(::write(peer_.get(), "1234", 4), 4);
        EXPECT_EQ(::write(peer_.get(), "5678", 4), 4);
    }
    void check(std::optional<int> result) override {
        const std::size_t left = bytes_waiting(fd());
        ASSERT_EQ(count_of(result) + left, 8U);
        if (left != 0) {
            EXPECT_EQ(::read(fd(), buffer_.data(), left), static_cast<ssize_t>(left));
        }
    }
};

class pipe_reader : public reader {
public:
    explicit pipe_reader(eddy::loop& home, fd_pair pair = make_pipe())
        : reader(home, std::move(pair.first), std::move(pair.second)) {}
};

class socket_reader : public reader {
public:
    explicit socket_reader(eddy::loop& home, fd_pair pair = unix_stream_pair())
        : reader(home, std::move(pair.first), std::move(pair.second)) {}
};

struct reads_some : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() override { return read(own_, std::span(buffer_).first(16)); }
};
struct reads_all : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() override { return read_all(own_, std::span(buffer_).first(8)); }
};
struct receives_some : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() override { return recv(own_, std::span(buffer_).first(16)); }
};
struct receives_all : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() override { return recv_all(own_, std::span(buffer_).first(8)); }
};
struct receives_vectors : socket_reader {
    using socket_reader::socket_reader;
    io_request prepare() override {
        vectors_ = {iovec{buffer_.data(), 3}, iovec{buffer_.data() + 3, 13}};
        return readv(own_, vectors_);
    }
    std::array<iovec, 2> vectors_{};
};

/// One datagram arrives.
class message_receiver : public pair_racer {
public:
    explicit message_receiver(eddy::loop& home, fd_pair pair = unix_datagram_pair())
        : pair_racer(home, std::move(pair.first), std::move(pair.second)) {}
    io_request prepare() override {
        vector_ = {buffer_.data(), 16};
        message_ = {};
        message_.msg_iov = &vector_;
        message_.msg_iovlen = 1;
        return recvmsg(own_, message_);
    }
    void trigger() override { EXPECT_EQ(::send(peer_.get(), "message", 7, 0), 7); }
    void check(std::optional<int> result) override {
        ASSERT_EQ(count_of(result) + bytes_waiting(fd()), 7U);
        if (!result) {
            EXPECT_EQ(::recv(fd(), buffer_.data(), 16, MSG_DONTWAIT), 7);
        }
    }

private:
    iovec vector_{};
    msghdr message_{};
};

/// There is no room for one until the peer has taken others.
class message_sender : public pair_racer {
public:
    explicit message_sender(eddy::loop& home, fd_pair pair = unix_datagram_pair())
        : pair_racer(home, std::move(pair.first), std::move(pair.second)) {
        shrink_send_buffer();
    }
    io_request prepare() override {
        while (::send(fd(), "fill", 4, MSG_DONTWAIT) == 4) {
            ++filled_;
        }
        vector_ = {buffer_.data(), 16};
        message_ = {};
        message_.msg_iov = &vector_;
        message_.msg_iovlen = 1;
        return sendmsg(own_, message_);
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

private:
    bool take() {
        std::array<char, 32> sink;
        const ssize_t n = ::recv(peer_.get(), sink.data(), sink.size(), MSG_DONTWAIT);
        filled_ -= n == 4 ? 1U : 0U;
        messages_ += n == 16 ? 1U : 0U;
        return n > 0;
    }

    iovec vector_{};
    msghdr message_{};
    std::size_t filled_ = 0;
    std::size_t messages_ = 0;
};

/// A pipe of one page, which is full.
class full_pipe : public pair_racer {
public:
    explicit full_pipe(eddy::loop& home, fd_pair pair = make_pipe())
        : pair_racer(home, std::move(pair.second), std::move(pair.first)) {
        EXPECT_EQ(::fcntl(peer_.get(), F_SETPIPE_SZ, static_cast<int>(page)),
                  static_cast<int>(page));
    }
    void fill() { EXPECT_EQ(::write(fd(), buffer_.data(), page), static_cast<ssize_t>(page)); }
    void trigger() override {
        const ssize_t n = ::read(peer_.get(), sink_.data(), page);
        taken_ += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    std::size_t take_all() { return std::exchange(taken_, 0) + drain(peer_.get()); }

private:
    std::array<std::byte, page> sink_{};
    std::size_t taken_ = 0;
};

struct writes_some : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() override {
        fill();
        return write(own_, std::span(buffer_).first(64));
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(take_all(), page + count_of(result));
    }
};
struct writes_all : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() override { return write_all(own_, buffer_); }
    void check(std::optional<int> result) override { ASSERT_EQ(take_all(), count_of(result)); }
};
struct writes_vectors : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() override {
        vectors_ = {iovec{buffer_.data(), 100}, iovec{buffer_.data() + 100, 2 * page - 100}};
        return writev_all(own_, vectors_);
    }
    void check(std::optional<int> result) override { ASSERT_EQ(take_all(), count_of(result)); }
    std::array<iovec, 2> vectors_{};
};
struct waits_until_writable : full_pipe {
    using full_pipe::full_pipe;
    io_request prepare() override {
        fill();
        return wait(own_, interest::writable);
    }
    void check(std::optional<int>) override { ASSERT_EQ(take_all(), page); }
};

struct waits_until_readable : pipe_reader {
    using pipe_reader::pipe_reader;
    io_request prepare() override { return wait(own_, interest::readable); }
    void check(std::optional<int> result) override {
        EXPECT_TRUE(!result || (*result & static_cast<int>(interest::readable)) != 0);
        pipe_reader::check(std::nullopt);
    }
};

/// More than the socket takes at once.
class sends_all : public pair_racer {
public:
    explicit sends_all(eddy::loop& home, fd_pair pair = unix_stream_pair())
        : pair_racer(home, std::move(pair.first), std::move(pair.second)) {
        shrink_send_buffer();
    }
    io_request prepare() override { return send_all(own_, buffer_); }
    void trigger() override { taken_ += drain(peer_.get()); }
    void check(std::optional<int> result) override {
        trigger();
        ASSERT_EQ(std::exchange(taken_, 0), count_of(result));
    }

private:
    std::size_t taken_ = 0;
};

/// A file of two pages to a socket that takes less.
class file_sender : public pair_racer {
public:
    explicit file_sender(eddy::loop& home, fd_pair pair = unix_stream_pair())
        : pair_racer(home, std::move(pair.first), std::move(pair.second)),
          file_(::memfd_create("race", MFD_CLOEXEC)) {
        shrink_send_buffer();
        EXPECT_EQ(::ftruncate(file_.get(), 2 * page), 0);
    }
    io_request prepare() override { return send_file(own_, file_.get(), 0, 2 * page); }
    void trigger() override { taken_ += drain(peer_.get()); }
    void check(std::optional<int> result) override {
        trigger();
        ASSERT_EQ(std::exchange(taken_, 0), count_of(result));
    }

private:
    unique_fd file_;
    std::size_t taken_ = 0;
};

/// Without a file, and without the ports that TCP connections use up.
struct unix_listener {
    unix_listener() : fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un any{};
        any.sun_family = AF_UNIX;
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof(sa_family_t)), 0);
        EXPECT_EQ(::listen(fd.get(), 8), 0);
        EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    }
    unique_fd fd;
    sockaddr_un name{};
    socklen_t size = sizeof name;
};

class accepts : public racer {
public:
    explicit accepts(eddy::loop& home) {
        unix_listener made;
        name_ = made.name;
        size_ = made.size;
        listener_ = descriptor(home, std::move(made.fd));
    }
    io_request prepare() override { return accept(listener_); }
    void trigger() override {
        client_ = unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(client_.get(), reinterpret_cast<sockaddr*>(&name_), size_), 0);
    }
    void check(std::optional<int> result) override {
        const int listener = listener_.native_handle();
        ASSERT_NE(ready(listener, POLLIN), result.has_value());
        const unique_fd connection(result ? *result : ::accept(listener, nullptr, nullptr));
        EXPECT_EQ(::send(client_.get(), "x", 1, MSG_NOSIGNAL), 1);
        EXPECT_EQ(bytes_waiting(connection.get()), 1U);
        client_.reset();
    }

private:
    sockaddr_un name_{};
    socklen_t size_ = 0;
    descriptor listener_;
    unique_fd client_;
};

/// A new connection each time; reset, so that no port is kept.
class connects : public racer {
public:
    explicit connects(eddy::loop& home) : home_(home) {
        set_nonblocking(listener_.get(), true);
        where_.sin_family = AF_INET;
        where_.sin_port = htons(listener_.port());
        where_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    io_request prepare() override {
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
        home_.poll();
        for (int fd = 0; (fd = ::accept(listener_.get(), nullptr, nullptr)) >= 0;) {
            unique_fd(fd).reset();
        }
    }

private:
    eddy::loop& home_;
    tcp_listener listener_;
    sockaddr_in where_{};
    descriptor client_;
};

/// A new pair each time.
class fresh_pair : public racer {
public:
    explicit fresh_pair(eddy::loop& home) : home_(home) {}

protected:
    void renew() {
        fd_pair pair = unix_stream_pair();
        own_ = descriptor(home_, std::move(pair.first));
        peer_ = std::move(pair.second);
    }
    /// Whether the peer sees the end of the stream.
    bool ended() {
        std::array<char, 1> sink;
        return ::recv(peer_.get(), sink.data(), sink.size(), MSG_DONTWAIT) == 0;
    }
    eddy::loop& home_;
    descriptor own_;
    unique_fd peer_;
};

struct shuts_down : fresh_pair {
    using fresh_pair::fresh_pair;
    io_request prepare() override {
        renew();
        return shutdown(own_, SHUT_WR);
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(ended(), result.has_value());
        own_.close();
        home_.poll();
    }
};

/// A file of eight bytes.
class file_racer : public racer {
protected:
    explicit file_racer(eddy::loop& home)
        : file_(home, unique_fd(::memfd_create("race", MFD_CLOEXEC))) {
        EXPECT_EQ(::pwrite(file_.native_handle(), "12345678", 8, 0), 8);
    }
    descriptor file_;
    std::array<std::byte, 8> buffer_{};
};

struct reads_file : file_racer {
    explicit reads_file(eddy::loop& home) : file_racer(home) {}
    io_request prepare() override { return read_all(file_, buffer_, 0); }
    void check(std::optional<int> result) override { EXPECT_EQ(result.value_or(8), 8); }
};
struct writes_file : file_racer {
    explicit writes_file(eddy::loop& home) : file_racer(home) {}
    io_request prepare() override { return write_all(file_, buffer_, 8); }
    void check(std::optional<int> result) override {
        EXPECT_EQ(::lseek(file_.native_handle(), 0, SEEK_END), result ? 16 : 8);
        EXPECT_EQ(::ftruncate(file_.native_handle(), 8), 0);
    }
};

struct syncs : racer {
    explicit syncs(eddy::loop& home)
        : file_(home, unique_fd(::memfd_create("race", MFD_CLOEXEC))) {}
    io_request prepare() override { return fsync(file_); }
    void check(std::optional<int> result) override { EXPECT_EQ(result.value_or(0), 0); }
    descriptor file_;
};

struct opens : racer {
    explicit opens(eddy::loop&) {}
    io_request prepare() override { return open("/dev/null", O_RDWR); }
    void check(std::optional<int> result) override {
        if (result) {
            EXPECT_TRUE(is_cloexec(*result));
            unique_fd(*result).reset();
        }
    }
};

template <class Racer>
std::unique_ptr<racer> make(eddy::loop& home) {
    return std::make_unique<Racer>(home);
}

class RequestRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(RequestRace);
class LongRequestRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(LongRequestRace);

#define EDDY_REQUEST_RACE(name, racer_type)                                 \
    TEST_P(RequestRace, name) { race(ordinary_tries(), make<racer_type>); } \
    TEST_P(LongRequestRace, name) { race(long_tries(), make<racer_type>); }

EDDY_REQUEST_RACE(ReadSome, reads_some)
EDDY_REQUEST_RACE(ReadAll, reads_all)
EDDY_REQUEST_RACE(Receive, receives_some)
EDDY_REQUEST_RACE(ReceiveAll, receives_all)
EDDY_REQUEST_RACE(ReadVectors, receives_vectors)
EDDY_REQUEST_RACE(ReceiveMessage, message_receiver)
EDDY_REQUEST_RACE(SendMessage, message_sender)
EDDY_REQUEST_RACE(WriteSome, writes_some)
EDDY_REQUEST_RACE(WriteAll, writes_all)
EDDY_REQUEST_RACE(WriteVectors, writes_vectors)
EDDY_REQUEST_RACE(SendAll, sends_all)
EDDY_REQUEST_RACE(SendFile, file_sender)
EDDY_REQUEST_RACE(ReadFile, reads_file)
EDDY_REQUEST_RACE(WriteFile, writes_file)
EDDY_REQUEST_RACE(WaitReadable, waits_until_readable)
EDDY_REQUEST_RACE(WaitWritable, waits_until_writable)
EDDY_REQUEST_RACE(Accept, accepts)
EDDY_REQUEST_RACE(Connect, connects)
EDDY_REQUEST_RACE(Shutdown, shuts_down)
EDDY_REQUEST_RACE(Sync, syncs)
EDDY_REQUEST_RACE(Open, opens)

}  // namespace
}  // namespace eddy::test
