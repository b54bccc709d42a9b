// SPDX-License-Identifier: Apache-2.0
// Each call that makes a handle, or is made for one, fails: that is the error, and nothing leaks.
#include "io/io_fixture.hpp"
#include "kernel/call.hpp"

#include <eddy/io/io.hpp>

#include <cerrno>
#include <string>
#include <vector>

#include <unistd.h>

namespace eddy::test::fault_test {
namespace {

using kernel::call;

class IoFaultTest : public IoTest {
protected:
    /// `make` returns an error_code. It fails with that of each call, and then succeeds.
    template <class Make>
    void fails_with_each(const std::vector<call>& calls, Make make) {
        static_cast<void>(loop());
        for (const call which : calls) {
            const std::size_t before = open_fds();
            kernel::fail(which, ENOBUFS);
            EXPECT_EQ(make(), std::errc::no_buffer_space) << static_cast<int>(which);
            kernel::fail_nothing();
            settle();
            EXPECT_EQ(open_fds(), before) << static_cast<int>(which);
        }
        EXPECT_FALSE(make());
        settle();
    }
    template <class Make>
    static std::error_code thrown_by(Make make) {
        try {
            make();
            return {};
        } catch (const std::system_error& e) {
            return e.code();
        }
    }
};

TEST_P(IoFaultTest, OfWhatListens) {
    fails_with_each({call::socket, call::setsockopt, call::bind, call::listen}, [&] {
        tcp::acceptor out;
        return tcp::acceptor::listen(loop(), address::loopback_v6(0), out);
    });
    scratch_directory directory;
    const address path = address::from("unix:" + directory.path("s"));
    fails_with_each({call::socket, call::bind, call::listen}, [&] {
        local::acceptor out;
        return local::acceptor::listen(loop(), path, out);
    });
    EXPECT_EQ(::access(directory.path("s").c_str(), F_OK), -1)
        << "the name of one that failed is left";
}

TEST_P(IoFaultTest, OfWhatListensOnEachLoop) {
    loop_group group({.size = 2, .loop = {.engine = GetParam()}});
    fails_with_each({call::socket, call::getsockname}, [&] {
        return thrown_by([&] { tcp::listen_on_each(group, address::loopback_v4(0)); });
    });
    fails_with_each({call::socket, call::getsockname}, [&] {
        return thrown_by([&] { udp::bind_on_each(group, address::loopback_v4(0)); });
    });
}

TEST_P(IoFaultTest, OfWhatConnects) {
    tcp_listener listener;
    const address where = address::loopback_v4(listener.port());
    fails_with_each({call::socket}, [&] { return error_of(tcp::connect(loop(), where)); });
    fails_with_each({call::socket}, [&] {
        return error_of(tcp::connect_any(loop(), std::vector<address>{where}));
    });
}

TEST_P(IoFaultTest, OfWhatHasMessages) {
    fails_with_each({call::socket, call::bind}, [&] {
        udp::socket out;
        return udp::socket::open(loop(), address::loopback_v4(0), out);
    });
    fails_with_each({call::socket, call::bind}, [&] {
        local::datagram out;
        return local::datagram::open(loop(), address::from("unix:@eddy-faults"), out);
    });
}

TEST_P(IoFaultTest, OfPairs) {
    fails_with_each({call::socket}, [&] {
        return thrown_by([&] { static_cast<void>(local::make_pair(loop())); });
    });
    fails_with_each({call::pipe},
                    [&] { return thrown_by([&] { static_cast<void>(make_pipe(loop())); }); });
}

TEST_P(IoFaultTest, OfQuestions) {
    auto pair = local::make_pair(loop());
    const local::stream& socket = pair.first;
    address found;
    fails_with_each({call::getsockname}, [&] { return socket.local_address(found); });
    fails_with_each({call::getpeername}, [&] { return socket.peer_address(found); });
    option::receive_buffer size;
    fails_with_each({call::getsockopt}, [&] { return socket.get_option(size); });
    fails_with_each({call::setsockopt}, [&] { return socket.set_option(size); });
    peer_credentials peer;
    fails_with_each({call::getsockopt}, [&] { return socket.credentials(peer); });
}

TEST_P(IoFaultTest, OfFiles) {
    scratch_directory directory;
    const file made(loop(), directory.file("f", "content"));
    struct stat status{};
    std::uint64_t size = 0;
    fails_with_each({call::stat}, [&] { return made.status(status); });
    fails_with_each({call::stat}, [&] { return made.size(size); });
    fails_with_each({call::truncate}, [&] { return made.truncate(3); });
    fails_with_each({call::seek}, [&] { return made.seek(1); });
    EXPECT_EQ(status.st_size, 7);
    EXPECT_EQ(size, 7U);
}

EDDY_ON_EVERY_ENGINE(IoFaultTest);

}  // namespace
}  // namespace eddy::test::fault_test
