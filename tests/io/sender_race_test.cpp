// SPDX-License-Identifier: Apache-2.0
// "A result that exists is delivered", and nothing is lost: for each sender as its users hold it.
#include "io/racers.hpp"

#include <eddy/io/io.hpp>

#include <array>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::sender_race_test {
namespace {

/// Racers have an int.
inline constexpr auto as_int =
    ex::then([](std::size_t count) noexcept { return static_cast<int>(count); });
inline constexpr auto as_size =
    ex::then([](const datagram& got) noexcept { return static_cast<int>(got.size); });

using whole_pipe_reader = reader<stream, make_pipe>;
using socket_reader = reader<local::stream, unix_stream_pair>;
using pipe_writer = page_pipe<stream>;

struct reads_pipe : whole_pipe_reader {
    using whole_pipe_reader::whole_pipe_reader;
    auto prepare() { return own_.read(std::span(buffer_).first(8)) | as_int; }
};
struct reads_socket : socket_reader {
    using socket_reader::socket_reader;
    auto prepare() { return own_.read(std::span(buffer_).first(8)) | as_int; }
};
struct reads_some_vectors : socket_reader {
    using socket_reader::socket_reader;
    auto prepare() {
        vectors_ = {iovec{buffer_.data(), 3}, iovec{buffer_.data() + 3, 13}};
        return own_.read_some(std::span<const iovec>(vectors_)) | as_int;
    }
    std::array<iovec, 2> vectors_{};
};
struct reads_vectors : socket_reader {
    using socket_reader::socket_reader;
    auto prepare() {
        vectors_ = {iovec{buffer_.data(), 3}, iovec{buffer_.data() + 3, 5}};
        return own_.read(vectors_) | as_int;
    }
    std::array<iovec, 2> vectors_{};
};
struct waits_until_readable : socket_reader {
    using socket_reader::socket_reader;
    auto prepare() {
        return own_.wait_readable() |
               ex::then([](interest ready) noexcept { return static_cast<int>(ready); });
    }
    void check(std::optional<int> result) override {
        EXPECT_TRUE(!result || (*result & static_cast<int>(interest::readable)) != 0);
        socket_reader::check(std::nullopt);
    }
};

struct writes_pipe : pipe_writer {
    using pipe_writer::pipe_writer;
    auto prepare() { return own_.write(buffer_) | as_int; }
};
struct writes_vectors : pipe_writer {
    using pipe_writer::pipe_writer;
    auto prepare() {
        vectors_ = {iovec{buffer_.data(), 100}, iovec{buffer_.data() + 100, 2 * page - 100}};
        return own_.write(vectors_) | as_int;
    }
    std::array<iovec, 2> vectors_{};
};
struct writes_some_vectors : pipe_writer {
    using pipe_writer::pipe_writer;
    auto prepare() {
        fill();
        vectors_ = {iovec{buffer_.data(), 100}, iovec{buffer_.data() + 100, page}};
        return own_.write_some(std::span<const iovec>(vectors_)) | as_int;
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(take_all(), page + count_of(result));
    }
    std::array<iovec, 2> vectors_{};
};
struct writes_socket : narrow_socket<local::stream> {
    using narrow_socket::narrow_socket;
    auto prepare() { return own_.write(buffer_) | as_int; }
};
struct sends_file : narrow_socket<local::stream> {
    explicit sends_file(eddy::loop& home)
        : narrow_socket(home), file_(home, unique_fd(::memfd_create("race", MFD_CLOEXEC))) {
        EXPECT_FALSE(file_.truncate(2 * page));
    }
    auto prepare() { return send_file(own_, file_, 0, 2 * page) | as_int; }
    file file_;
};

using message_receiver = message_reader<local::datagram>;
using message_sender = message_writer<local::datagram>;

struct receives_from : message_receiver {
    using message_receiver::message_receiver;
    auto prepare() { return own_.recv_from(std::span(buffer_).first(16)) | as_size; }
};
struct receives_message : message_receiver {
    using message_receiver::message_receiver;
    auto prepare() { return own_.recv(std::span(buffer_).first(16)) | as_size; }
};
/// In a buffer that the loop lends; there are enough for all.
struct receives_lease : message_receiver {
    using message_receiver::message_receiver;
    auto prepare() {
        return own_.receive() |
               ex::then([](const lease& got) noexcept { return static_cast<int>(got.size()); });
    }
    void check(std::optional<int> result) override {
        message_receiver::check(result);
        EXPECT_EQ(home_.counters().leases_out, 0U);
    }
};
struct sends_message : message_sender {
    using message_sender::message_sender;
    auto prepare() {
        fill();
        return own_.send(std::span(buffer_).first(16)) | as_int;
    }
};
struct sends_vectors : message_sender {
    using message_sender::message_sender;
    auto prepare() {
        fill();
        vectors_ = {iovec{buffer_.data(), 6}, iovec{buffer_.data() + 6, 10}};
        return own_.send(std::span<const iovec>(vectors_)) | as_int;
    }
    std::array<iovec, 2> vectors_{};
};
struct sends_descriptors : message_sender {
    using message_sender::message_sender;
    auto prepare() {
        fill();
        return own_.send_fds(std::span(buffer_).first(16), {event_.get()}) | as_int;
    }
    unique_fd event_ = make_eventfd();
};

/// A pair with names, which the sockets of socketpair(2) have not.
fd_pair bound_datagram_pair() {
    fd_pair pair;
    for (unique_fd* fd : {&pair.first, &pair.second}) {
        *fd = unique_fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un any{};
        any.sun_family = AF_UNIX;
        EXPECT_EQ(::bind(fd->get(), reinterpret_cast<sockaddr*>(&any), sizeof(sa_family_t)), 0);
    }
    return pair;
}
/// The end of the operation is not connected.
struct sends_to : message_sender {
    explicit sends_to(eddy::loop& home) : message_sender(home, bound_datagram_pair()) {
        EXPECT_FALSE(detail::local_address_of(peer_.get(), to_));
    }
    auto prepare() {
        // Filled by a connection of the moment: all that sends from here counts.
        EXPECT_EQ(::connect(fd(), to_.native(), to_.native_length()), 0);
        fill();
        sockaddr none{};
        none.sa_family = AF_UNSPEC;
        EXPECT_EQ(::connect(fd(), &none, sizeof none), 0);
        return own_.send_to(std::span(buffer_).first(16), to_) | as_int;
    }
    address to_;
};

struct accepts : listening_racer<local::acceptor> {
    using listening_racer::listening_racer;
    auto prepare() {
        return listener_.accept() |
               ex::then([this](local::stream made) noexcept { made_ = std::move(made); });
    }
    void check(std::optional<int> result) override {
        const int listener = listener_.native_handle();
        ASSERT_EQ(static_cast<bool>(made_), result.has_value());
        ASSERT_NE(ready(listener, POLLIN), result.has_value());
        if (!result) {
            made_ =
                local::stream(*listener_.home(), unique_fd(::accept(listener, nullptr, nullptr)));
        }
        expect_connected(made_.native_handle());
        made_ = {};
    }
    local::stream made_;
};
/// What was accepted ahead for a next() that was stopped is there for the following one.
struct takes_next : listening_racer<local::acceptor> {
    explicit takes_next(eddy::loop& home)
        : listening_racer(home), home_(home), connections_(listener_, 4) {}
    auto prepare() {
        return connections_.next() |
               ex::then([this](local::stream made) noexcept { made_ = std::move(made); });
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(static_cast<bool>(made_), result.has_value());
        if (!result) {
            auto again = home_.run(connections_.next());
            ASSERT_TRUE(again.has_value());
            made_ = std::get<0>(std::move(*again));
        }
        EXPECT_EQ(connections_.stored(), 0U);
        EXPECT_FALSE(ready(listener_.native_handle(), POLLIN));
        expect_connected(made_.native_handle());
        made_ = {};
    }
    eddy::loop& home_;
    incoming<local::stream> connections_;
    local::stream made_;
};

/// What was received ahead for a next() that was stopped is there for the following one.
struct takes_next_bytes : reader<local::stream, unix_stream_pair> {
    explicit takes_next_bytes(eddy::loop& home) : reader(home), data_(own_) {}
    auto prepare() {
        return data_.next() |
               ex::then([](const lease& got) noexcept { return static_cast<int>(got.size()); });
    }
    void check(std::optional<int> result) override {
        std::size_t got = count_of(result);
        while (got < 8) {
            const auto more = home_.run(data_.next());
            ASSERT_TRUE(more.has_value() && !std::get<0>(*more).empty());
            got += std::get<0>(*more).size();
        }
        EXPECT_EQ(got, 8U);
        EXPECT_EQ(data_.stored(), 0U);
    }
    incoming<lease> data_;
};

/// The fixture counts the descriptors.
struct connects : connecting_racer {
    using connecting_racer::connecting_racer;
    auto prepare() {
        return tcp::connect(home_, address::loopback_v4(listener_.port())) |
               ex::then([this](tcp::socket made) noexcept { made_ = std::move(made); });
    }
    void check(std::optional<int> result) override {
        ASSERT_EQ(static_cast<bool>(made_), result.has_value());
        if (made_) {
            EXPECT_TRUE(ready(made_.native_handle(), POLLOUT));
            EXPECT_FALSE(made_.set_option(option::reset_on_close));
            made_ = {};
        }
        take_all();
    }
    tcp::socket made_;
};

struct shuts_down : racer {
    explicit shuts_down(eddy::loop& home) : home_(home) {}
    auto prepare() {
        fd_pair pair = unix_stream_pair();
        own_ = local::stream(home_, std::move(pair.first));
        peer_ = std::move(pair.second);
        return own_.shutdown(shutdown_side::send);
    }
    void check(std::optional<int> result) override {
        std::array<char, 1> sink;
        const bool ended = ::recv(peer_.get(), sink.data(), sink.size(), MSG_DONTWAIT) == 0;
        ASSERT_EQ(ended, result.has_value());
        own_ = {};
        home_.poll();
    }
    eddy::loop& home_;
    local::stream own_;
    unique_fd peer_;
};

struct opening_racer : racer {
    explicit opening_racer(eddy::loop& home) : home_(home) {}
    void check(std::optional<int> result) override {
        ASSERT_EQ(static_cast<bool>(made_), result.has_value());
        if (made_) {
            EXPECT_TRUE(is_cloexec(made_.native_handle()));
            made_ = {};
        }
    }
    auto keep() {
        return ex::then([this](file made) noexcept { made_ = std::move(made); });
    }
    eddy::loop& home_;
    file made_;
};
struct opens : opening_racer {
    using opening_racer::opening_racer;
    auto prepare() { return file::open(home_, "/dev/null", O_RDWR) | keep(); }
};
struct opens_beneath : opening_racer {
    explicit opens_beneath(eddy::loop& home)
        : opening_racer(home), root_(home, unique_fd(::open("/dev", O_DIRECTORY | O_CLOEXEC))) {}
    auto prepare() { return root_.open_beneath("null", O_RDWR) | keep(); }
    file root_;
};

struct reads_file : file_reader<file> {
    using file_reader::file_reader;
    auto prepare() { return file_.read_at(0, buffer_) | as_int; }
};
struct writes_file : file_writer<file> {
    using file_writer::file_writer;
    auto prepare() { return file_.write_at(8, buffer_) | as_int; }
};
struct syncs_data : file_racer<file> {
    using file_racer::file_racer;
    auto prepare() { return file_.datasync(); }
    void check(std::optional<int>) override {
        std::uint64_t size = 0;
        EXPECT_FALSE(file_.size(size));
        EXPECT_EQ(size, 8U);
    }
};

/// A turn that comes with the next tick, and then the bytes.
struct reads_in_turn : socket_reader {
    explicit reads_in_turn(eddy::loop& home) : socket_reader(home), group_(home), share_(group_) {}
    auto prepare() {
        return in_turn(own_.read_some(std::span(buffer_).first(16)), share_) | as_int;
    }
    bandwidth_group group_;
    bandwidth_share share_;
};

class SenderRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(SenderRace);
class LongSenderRace : public RequestRaceTest {};
EDDY_ON_EVERY_ENGINE(LongSenderRace);

EDDY_RACE(SenderRace, ReadPipe, reads_pipe)
EDDY_RACE(SenderRace, ReadSocket, reads_socket)
EDDY_RACE(SenderRace, ReadSomeVectors, reads_some_vectors)
EDDY_RACE(SenderRace, ReadVectors, reads_vectors)
EDDY_RACE(SenderRace, WaitReadable, waits_until_readable)
EDDY_RACE(SenderRace, WritePipe, writes_pipe)
EDDY_RACE(SenderRace, WriteVectors, writes_vectors)
EDDY_RACE(SenderRace, WriteSomeVectors, writes_some_vectors)
EDDY_RACE(SenderRace, WriteSocket, writes_socket)
EDDY_RACE(SenderRace, SendFile, sends_file)
EDDY_RACE(SenderRace, ReceiveFrom, receives_from)
EDDY_RACE(SenderRace, ReceiveMessage, receives_message)
EDDY_RACE(SenderRace, ReceiveLease, receives_lease)
EDDY_RACE(SenderRace, Send, sends_message)
EDDY_RACE(SenderRace, SendVectors, sends_vectors)
EDDY_RACE(SenderRace, SendDescriptors, sends_descriptors)
EDDY_RACE(SenderRace, SendTo, sends_to)
EDDY_RACE(SenderRace, Accept, accepts)
EDDY_RACE(SenderRace, Next, takes_next)
EDDY_RACE(SenderRace, NextBytes, takes_next_bytes)
EDDY_RACE(SenderRace, Connect, connects)
EDDY_RACE(SenderRace, Shutdown, shuts_down)
EDDY_RACE(SenderRace, Open, opens)
EDDY_RACE(SenderRace, OpenBeneath, opens_beneath)
EDDY_RACE(SenderRace, ReadFile, reads_file)
EDDY_RACE(SenderRace, WriteFile, writes_file)
EDDY_RACE(SenderRace, DataSync, syncs_data)
EDDY_RACE(SenderRace, ReadInTurn, reads_in_turn)

}  // namespace
}  // namespace eddy::test::sender_race_test
