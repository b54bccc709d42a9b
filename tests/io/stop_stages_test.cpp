// SPDX-License-Identifier: Apache-2.0
// A request to stop, at each stage of each kind of I/O.
#include "async/stop_stages.hpp"

#include <eddy/io/io.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy::test::stop_stages_test {
namespace {

/// What can be received at once is taken; how many bytes that were.
std::size_t drain(int socket) {
    std::array<char, 65536> sink;
    std::size_t total = 0;
    for (ssize_t n = 0; (n = ::recv(socket, sink.data(), sink.size(), MSG_DONTWAIT)) > 0;) {
        total += static_cast<std::size_t>(n);
    }
    return total;
}

/// So that the next write has to wait.
void fill(int socket) {
    const std::array<char, 65536> zeros{};
    for (const std::size_t size : {zeros.size(), std::size_t{1}}) {
        while (::send(socket, zeros.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {}
    }
}

/// One byte comes from `peer`; whoever does not get it leaves it there.
stop_case one_byte(int own, int peer) {
    return {.happen = [peer] { send_all(peer, "x"); },
            .check = [own](bool happened,
                           bool got) { ASSERT_EQ(drain(own), happened && !got ? 1U : 0U); }};
}

/// The peer takes all, so that there is room.
stop_case room(int peer) {
    return {.happen = [peer] { drain(peer); }, .check = [peer](bool, bool) { drain(peer); }};
}

stop_case at_once() { return {.ends_alone = true}; }

class IoStopStages : public StopStagesTest {
protected:
    std::span<std::byte> one() { return std::span(buffer_).first(1); }
    std::span<const iovec> vectors() {
        vectors_ = {iovec{buffer_.data(), 1}, iovec{buffer_.data() + 1, 1}};
        return vectors_;
    }
    /// For those that change them.
    std::span<iovec> one_vector() {
        vectors_[0] = {buffer_.data(), 1};
        return std::span(vectors_).first(1);
    }

    std::array<std::byte, 4096> buffer_{};
    std::array<iovec, 2> vectors_{};
};
EDDY_ON_EVERY_ENGINE(IoStopStages);

TEST_P(IoStopStages, OfReading) {
    auto pair = local::make_pair(loop());
    const local::stream& own = pair.first;
    const stop_case about = one_byte(own.native_handle(), pair.second.native_handle());
    stop_in_each_stage("read_some", [&] { return own.read_some(one()); }, about);
    stop_in_each_stage("read_some, vectors", [&] { return own.read_some(vectors()); }, about);
    stop_in_each_stage("read", [&] { return own.read(one()); }, about);
    stop_in_each_stage("read, vectors", [&] { return own.read(one_vector()); }, about);
    stop_in_each_stage("receive", [&] { return own.receive(); }, about);
    stop_in_each_stage("receive_fds", [&] { return own.receive_fds<2>(one()); }, about);
    stop_in_each_stage("wait_readable", [&] { return own.wait_readable(); },
                       {.happen = about.happen,
                        .check = [&](bool happened, bool) { about.check(happened, false); }});
    std::string line;
    stop_in_each_stage("read_until", [&] { return read_until(own, line, "x", 100); },
                       {.happen = about.happen, .check = [&](bool happened, bool) {
                            ASSERT_EQ(line.size() + drain(own.native_handle()), happened ? 1U : 0U);
                            line.clear();
                        }});
}

TEST_P(IoStopStages, OfReadingAhead) {
    auto pair = local::make_pair(loop());
    incoming<lease> data(pair.first);
    stop_in_each_stage("next", [&] { return data.next(); },
                       {.happen = [&] { send_all(pair.second.native_handle(), "x"); },
                        .check =
                            [&](bool happened, bool got) {
                                settle();
                                EXPECT_EQ(data.stored(), happened && !got ? 1U : 0U);
                                if (data.stored() != 0) {
                                    EXPECT_TRUE(loop().run(data.next()).has_value());
                                }
                            }});
}

TEST_P(IoStopStages, OfReadingWithoutALentBuffer) {
    make_loop({.lease_size = 64, .lease_count = 1, .lease_max = 1});
    auto pair = local::make_pair(loop());
    auto other = local::make_pair(loop());
    std::optional<lease> held;
    const auto hold = [&] {
        send_all(other.second.native_handle(), "y");
        held.emplace(std::get<0>(loop().run(other.first.receive()).value()));
        send_all(pair.second.native_handle(), "x");
    };
    hold();
    stop_in_each_stage("receive", [&] { return pair.first.receive(); },
                       {.happen = [&] { held.reset(); },
                        .check =
                            [&](bool happened, bool got) {
                                ASSERT_EQ(drain(pair.first.native_handle()), got ? 0U : 1U);
                                if (happened) {
                                    hold();
                                } else {
                                    send_all(pair.second.native_handle(), "x");
                                }
                            }});
    held.reset();
    settle();
    EXPECT_EQ(loop().counters().leases_out, 0U);
}

TEST_P(IoStopStages, OfWriting) {
    auto pair = local::make_pair(loop());
    const local::stream& own = pair.first;
    const unique_fd event = make_eventfd();
    const stop_case about = room(pair.second.native_handle());
    const auto full = [&](auto sender) {
        fill(own.native_handle());
        return sender;
    };
    stop_in_each_stage("write_some", [&] { return full(own.write_some(one())); }, about);
    stop_in_each_stage(
        "write_some, vectors", [&] { return full(own.write_some(vectors())); }, about);
    stop_in_each_stage("write", [&] { return full(own.write(one())); }, about);
    stop_in_each_stage("write, vectors", [&] { return full(own.write(one_vector())); }, about);
    stop_in_each_stage("send_fds", [&] { return full(own.send_fds(one(), {event.get()})); }, about);
    stop_in_each_stage("wait_writable", [&] { return full(own.wait_writable()); }, about);

    unique_fd content(::memfd_create("stop", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(content.get(), 4096), 0);
    const file page(loop(), std::move(content));
    stop_in_each_stage("send_file", [&] { return full(send_file(own, page, 0, 4096)); }, about);
}

TEST_P(IoStopStages, OfMessages) {
    auto pair = local::make_pair<local::datagram>(loop());
    const local::datagram& own = pair.first;
    const stop_case comes = one_byte(own.native_handle(), pair.second.native_handle());
    stop_in_each_stage("recv", [&] { return own.recv(one()); }, comes);
    stop_in_each_stage("recv_from", [&] { return own.recv_from(one()); }, comes);
    stop_in_each_stage("recv, vectors", [&] { return own.recv(vectors()); }, comes);
    stop_in_each_stage("receive", [&] { return own.receive(); }, comes);
    const auto full = [&](auto sender) {
        fill(own.native_handle());
        return sender;
    };
    const stop_case goes = room(pair.second.native_handle());
    stop_in_each_stage("send", [&] { return full(own.send(one())); }, goes);

    const address inbox = address::from("unix:@eddy-stop-" + std::to_string(::getpid()));
    local::datagram named(loop(), inbox);
    local::datagram sender(loop(), address::from("unix:"));
    const auto full_inbox = [&](auto sending) {
        for (int sent = 1; sent > 0;) {
            sent = static_cast<int>(::sendto(sender.native_handle(), "x", 1, MSG_DONTWAIT,
                                             inbox.native(), inbox.native_length()));
        }
        return sending;
    };
    stop_in_each_stage(
        "send_to", [&] { return full_inbox(sender.send_to(one(), inbox)); },
        room(named.native_handle()));
    udp::socket udp(loop(), address::loopback_v4(0));
    stop_in_each_stage("connect", [&] { return udp.connect(address::loopback_v4(9)); }, at_once());
}

/// A connection that arrives while its accept is stopped must be delivered or stay in the backlog:
/// a lost one is a leaked descriptor and a peer that waits for ever.
TEST_P(IoStopStages, OfConnections) {
    const address where = address::from("unix:@eddy-stop-" + std::to_string(::getpid()));
    local::acceptor acceptor(loop(), where, {.backlog = 0});
    std::vector<unique_fd> clients;
    const auto come = [&] {
        unique_fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        static_cast<void>(::connect(client.get(), where.native(), where.native_length()));
        clients.push_back(std::move(client));
    };
    const auto take = [&] {
        while (becomes_ready(acceptor.native_handle(), POLLIN, 0)) {
            unique_fd(::accept(acceptor.native_handle(), nullptr, nullptr)).reset();
        }
    };
    const stop_case comes = {.happen = come, .check = [&](bool happened, bool got) {
                                 EXPECT_EQ(becomes_ready(acceptor.native_handle(), POLLIN, 0),
                                           happened && !got);
                                 take();
                                 clients.clear();
                             }};
    stop_in_each_stage("accept", [&] { return acceptor.accept(); }, comes);
    stop_in_each_stage("accept_fd", [&] { return acceptor.accept_fd(); }, comes);
    const auto full = [&](auto sender) {
        come();
        come();
        return sender;
    };
    stop_in_each_stage("connect", [&] { return full(local::connect(loop(), where)); },
                       {.happen = take, .check = [&](bool, bool) {
                            settle();
                            take();
                            clients.clear();
                        }});
    incoming<local::stream> connections(acceptor, 4);
    stop_in_each_stage("next", [&] { return connections.next(); },
                       {.happen = come, .check = [&](bool happened, bool got) {
                            settle();
                            EXPECT_EQ(connections.stored(), happened && !got ? 1U : 0U);
                            if (connections.stored() != 0) {
                                EXPECT_TRUE(loop().run(connections.next_fd()).has_value());
                            }
                            clients.clear();
                        }});
}

TEST_P(IoStopStages, OfConnectionsOverTcp) {
    tcp_listener listener(0);
    const address where = address::loopback_v4(listener.port());
    std::vector<unique_fd> clients;
    for (int i = 0; i != 4; ++i) {  // so that it neither takes nor refuses one more
        clients.push_back(tcp_socket());
        set_nonblocking(clients.back().get(), true);
        static_cast<void>(::connect(clients.back().get(), where.native(), where.native_length()));
    }
    stop_in_each_stage("connect", [&] { return tcp::connect(loop(), where); });
    const std::vector<address> twice = {where, where};
    stop_in_each_stage("connect_any, with one attempt",
                       [&] { return tcp::connect_any(loop(), twice, 1h); });
    stop_in_each_stage("connect_any, with two attempts",
                       [&] { return tcp::connect_any(loop(), twice, 0s); });
}

TEST_P(IoStopStages, OfWhatIsOverAtOnce) {
    scratch_directory directory;
    const std::string path = directory.path("f");
    const auto open = [&] { return file::open(loop(), path, O_RDWR | O_CREAT); };
    stop_in_each_stage("open", open, at_once());
    file made = std::get<0>(loop().run(open()).value());
    stop_in_each_stage("write_at", [&] { return made.write_at(0, one()); }, at_once());
    stop_in_each_stage("write_some_at", [&] { return made.write_some_at(0, one()); }, at_once());
    stop_in_each_stage("read_at", [&] { return made.read_at(0, one()); }, at_once());
    stop_in_each_stage("read_some_at", [&] { return made.read_some_at(0, one()); }, at_once());
    stop_in_each_stage("read", [&] { return made.read(one()); }, at_once());
    stop_in_each_stage("write", [&] { return made.write(one()); }, at_once());
    stop_in_each_stage("sync", [&] { return made.sync(); }, at_once());
    stop_in_each_stage("datasync", [&] { return made.datasync(); }, at_once());
    stop_in_each_stage("close", [&] { return stream(loop(), make_eventfd()).close(); }, at_once());
    auto pair = local::make_pair(loop());
    stop_in_each_stage(
        "shutdown", [&] { return pair.first.shutdown(shutdown_side::send); }, at_once());
    stop_in_each_stage("schedule", [&] { return loop().get_scheduler().schedule(); }, at_once());
    stop_in_each_stage("schedule_after", [&] { return loop().get_scheduler().schedule_after(1h); });
    stop_in_each_stage("schedule_at",
                       [&] { return loop().get_scheduler().schedule_at(clock::now() + 1h); });
}

}  // namespace
}  // namespace eddy::test::stop_stages_test
