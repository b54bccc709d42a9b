// SPDX-License-Identifier: Apache-2.0
// A program may be started with its standard streams closed: what it opens must not take their
// place.
#include "support/standard_fds.hpp"
#include "io/io_fixture.hpp"
#include "io/send_one_fd.hpp"
#include "kernel/call.hpp"
#include "kernel/io.hpp"
#include "kernel/own_fd.hpp"
#include "support/fds.hpp"
#include "support/in_child.hpp"

#include <eddy/io/file.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>
#include <eddy/io/udp/socket.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace eddy::test::io_standard_fds_test {
namespace {

class IoStandardFds : public IoTest {
protected:
    /// In a forked child whose standard streams are closed: what `body(loop)` returns.
    template <class Body>
    int without_standard_fds(Body body) {
        return in_child([&] {
            close_standard_fds();
            eddy::loop home({.engine = GetParam()});
            return body(home);
        });
    }
    template <class Sender>
    static auto value_of(eddy::loop& home, Sender sender) {
        return std::get<0>(home.run(std::move(sender)).value());
    }
};
EDDY_ON_EVERY_ENGINE(IoStandardFds);

TEST_P(IoStandardFds, AreNotTakenByConnections) {
    const auto body = [](eddy::loop& home) {
        const tcp::acceptor acceptor(home, address::loopback_v4(0));
        address where;
        if (acceptor.local_address(where) || !standard_fds_are_free()) {
            return 1;
        }
        const tcp::socket client = value_of(home, tcp::connect(home, where));
        const tcp::socket other = value_of(home, tcp::connect_any(home, std::span(&where, 1)));
        if (!standard_fds_are_free()) {
            return 2;
        }
        const tcp::socket server = value_of(home, acceptor.accept());
        const unique_fd second = value_of(home, acceptor.accept_fd());
        if (!standard_fds_are_free() || !is_cloexec(second.get())) {
            return 3;
        }
        home.run(client.write(bytes("x")));
        char byte = 0;
        return value_of(home, server.read_some(bytes(std::span(&byte, 1)))) == 1 ? 0 : 4;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(IoStandardFds, AreNotTakenByConnectionsThatAreAcceptedAhead) {
    const auto body = [](eddy::loop& home) {
        const tcp::acceptor acceptor(home, address::loopback_v4(0));
        address where;
        if (acceptor.local_address(where)) {
            return 1;
        }
        incoming<tcp::socket> connections(acceptor);
        std::vector<tcp::socket> clients;
        for (int i = 0; i != 3; ++i) {
            clients.push_back(value_of(home, tcp::connect(home, where)));
        }
        const tcp::socket first = value_of(home, connections.next());
        if (!standard_fds_are_free()) {
            return 2;
        }
        const tcp::socket second = value_of(home, connections.next());
        const tcp::socket third = value_of(home, connections.next());
        return standard_fds_are_free() && third.native_handle() > 2 ? 0 : 3;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(IoStandardFds, AreNotTakenByAnythingElseThatIsOpened) {
    const auto body = [](eddy::loop& home) {
        const file opened = value_of(home, file::open(home, "/dev/zero", O_RDONLY));
        if (!standard_fds_are_free()) {
            return 1;
        }
        const pipe_ends ends = eddy::make_pipe(home);
        if (!standard_fds_are_free()) {
            return 2;
        }
        const udp::socket datagrams(home, address::loopback_v4(0));
        if (!standard_fds_are_free()) {
            return 3;
        }
        const auto [here, there] = local::make_pair(home);
        if (!standard_fds_are_free()) {
            return 4;
        }
        send_one_fd(there.native_handle(), opened.native_handle());
        std::byte byte{};
        const auto got = value_of(home, here.receive_fds<2>(std::span(&byte, 1)));
        return standard_fds_are_free() && got.fd_count == 1 && got.fds[0].get() > 2 ? 0 : 5;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(IoStandardFds, AreNotTakenByBareOperations) {
    const auto body = [](eddy::loop& home) {
        recorder opening;
        opening.start(home, eddy::open("/dev/zero", O_RDONLY));
        home.run(run_mode::empty);
        const unique_fd opened(opening.result().fd());
        return opened.get() > 2 && standard_fds_are_free() && is_cloexec(opened.get()) ? 0 : 1;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(IoStandardFds, ThatAreHandedOverKeepTheirNumbers) {
    const auto body = [](eddy::loop& home) {
        int ends[2];
        if (::pipe(ends) != 0 || ends[0] != 0) {
            return 1;
        }
        const stream reader(home, unique_fd(ends[0]));
        const stream writer(home, unique_fd(ends[1]));
        return reader.native_handle() == 0 && writer.native_handle() == 1 ? 0 : 2;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

TEST_P(IoStandardFds, ThatAreAllThereIsAreNoRoomForAConnection) {
    const auto body = [](eddy::loop& home) {
        const tcp::acceptor acceptor(home, address::loopback_v4(0));
        address where;
        if (acceptor.local_address(where)) {
            return 1;
        }
        const tcp::socket client = value_of(home, tcp::connect(home, where));
        home.run_for(1ms);
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        const rlim_t before =
            std::exchange(limit.rlim_cur, static_cast<rlim_t>(client.native_handle()) + 1);
        ::setrlimit(RLIMIT_NOFILE, &limit);
        started accepting(home, acceptor.accept());
        home.run_for(1ms);
        if (accepting.ended() || !standard_fds_are_free()) {
            return 2;
        }
        limit.rlim_cur = before;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const tcp::socket second = value_of(home, tcp::connect(home, where));
        home.run(run_mode::stopped, {.until = clock::now() + patience, .completions = 1});
        return accepting.has_value() && accepting.value().native_handle() > 2 ? 0 : 3;
    };
    EXPECT_EQ(without_standard_fds(body), 0);
}

/// A low number makes the next accept take a higher one first, until 0 to 2 are in use again.
TEST(NewFds, ConnectionsAboveTheStandardOnesCostOneCall) {
    const int ended = in_child([] {
        tcp_listener listener;
        const unique_fd clients[] = {listener.connect(), listener.connect(), listener.connect()};
        const auto calls_of_accept = [&] {
            const std::uint64_t calls = kernel::calls_made();
            const unique_fd made(kernel::accept(listener.get(), nullptr, nullptr, 0).fd());
            return made.get() > 2 ? kernel::calls_made() - calls : 0;
        };
        close_standard_fds();
        const std::uint64_t moved = calls_of_accept();
        for (const int low : standard_fds) {
            if (::open("/dev/null", O_RDWR | O_CLOEXEC) != low) {
                return 1;
            }
        }
        const std::uint64_t hesitant = calls_of_accept();
        return moved > 1 && hesitant > 1 && calls_of_accept() == 1 ? 0 : 2;
    });
    EXPECT_EQ(ended, 0);
}

TEST(NewFds, AboveTheStandardOnesCostNoCall) {
    const unique_fd opened(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_GT(opened.get(), 2);
    const std::uint64_t calls = kernel::calls_made();
    EXPECT_EQ(kernel::keep_off_standard(io_result::value(opened.get())).fd(), opened.get());
    EXPECT_EQ(kernel::keep_off_standard(io_result::system_error(EMFILE)).system_error(), EMFILE);
    EXPECT_EQ(kernel::calls_made(), calls);
}

}  // namespace
}  // namespace eddy::test::io_standard_fds_test
