// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"
#include "kernel/call.hpp"
#include "loop/allocations.hpp"

#include <eddy/async/as_result.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/retry.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/ex/let_error.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/io/file.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/read_until.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>
#include <eddy/io/udp/socket.hpp>

#include <string>

namespace eddy::test::error_subject_test {
namespace {

class ErrorSubject : public TaskTest {
protected:
    /// What is said of the exception that `sender` ends with.
    template <class Sender>
    std::string words(Sender&& sender) {
        try {
            loop().run(std::forward<Sender>(sender));
        } catch (const std::system_error& e) {
            return e.what();
        }
        return "no exception";
    }
    /// The same in a task, in the background, which waits in another way.
    template <class Make>
    std::string words_in_background(Make make) {
        std::string said;
        bool ended = false;
        spawn(loop(), [&]() -> task<> {
            try {
                co_await make();
            } catch (const std::system_error& e) {
                said = e.what();
            }
            ended = true;
        });
        EXPECT_TRUE(until([&] { return ended; }));
        return said;
    }
    /// An address on which nobody listens.
    address nobody() {
        address where;
        tcp::acceptor listener(loop(), address::loopback_v4(0));
        EXPECT_FALSE(listener.local_address(where));
        return where;
    }
};
EDDY_ON_EVERY_ENGINE(ErrorSubject);

task<> in_a_task(auto sender) { co_await std::move(sender); }

TEST_P(ErrorSubject, OfAConnectIsTheAddress) {
    const address to = nobody();
    const std::string expected = "tcp::connect " + to.to_string() + ": Connection refused";
    EXPECT_EQ(words(tcp::connect(loop(), to)), expected);
    EXPECT_EQ(words(in_a_task(tcp::connect(loop(), to))), expected);
    EXPECT_EQ(words(timeout(tcp::connect(loop(), to), 1h)), expected);
    EXPECT_EQ(words(retry([&] { return tcp::connect(loop(), to); }, {.tries_max = 2, .delay = {}})),
              expected);
    EXPECT_EQ(words_in_background([&] { return tcp::connect(loop(), to); }), expected);
    EXPECT_EQ(words(tcp::connect(loop(), address::from("unix:@x"))),
              "tcp::connect unix:@x: Address family not supported by protocol");
}

TEST_P(ErrorSubject, OfALocalConnectIsThePathOrTheName) {
    EXPECT_EQ(words(local::connect(loop(), address::from("unix:/no/such/socket"))),
              "local::connect unix:/no/such/socket: No such file or directory");
    EXPECT_EQ(words(local::connect<local::seqpacket>(loop(), address::from("unix:@nobody-here"))),
              "local::connect unix:@nobody-here: Connection refused");
}

TEST_P(ErrorSubject, OfARaceOfAddressesIsTheOneThatTheErrorIsOf) {
    const address to = nobody();
    const address both[] = {to, address::from("unix:@x")};
    EXPECT_EQ(words(tcp::connect_any(loop(), both)),
              "tcp::connect_any " + to.to_string() + ": Connection refused");
    EXPECT_EQ(words(tcp::connect_any(loop(), {})), "tcp::connect_any: Invalid argument");
}

TEST_P(ErrorSubject, OfAnOpenIsThePathHoweverItIsAwaited) {
    const auto open = [&] { return file::open(loop(), "/no/such/settings.toml", O_RDONLY); };
    const std::string expected = "file::open /no/such/settings.toml: No such file or directory";
    EXPECT_EQ(words(open()), expected);
    EXPECT_EQ(words(in_a_task(open())), expected);
    EXPECT_EQ(words(timeout(open(), 1h)), expected);
    EXPECT_EQ(words(with_nursery([&](nursery& children) -> task<> {
                  children.start(in_a_task(open()));
                  co_await children.join();
              })),
              expected);
    EXPECT_EQ(words_in_background(open), expected);
    EXPECT_EQ(words(file::open(loop(), std::string("a\0b", 3), O_RDONLY)),
              std::string("file::open a\0b: Invalid argument", 32).c_str());
}

TEST_P(ErrorSubject, OfAnOpenBelowADirectoryIsThePath) {
    const auto [directory] = loop().run(file::open(loop(), "/", O_RDONLY | O_DIRECTORY)).value();
    const auto open = [&] { return directory.open_beneath("no-such-file", O_RDONLY); };
    const std::string expected = "file::open_beneath no-such-file: No such file or directory";
    EXPECT_EQ(words(open()), expected);
    EXPECT_EQ(words_in_background(open), expected);
}

TEST_P(ErrorSubject, OfAListenerIsItsAddress) {
    tcp::acceptor first(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(first.local_address(where));
    std::string said;
    try {
        const tcp::acceptor second(loop(), where);
    } catch (const std::system_error& e) {
        said = e.what();
    }
    EXPECT_EQ(said, "tcp::acceptor " + where.to_string() + ": Address already in use");
}

TEST_P(ErrorSubject, OfWhateverIsBoundIsItsAddress) {
    const udp::socket bound(loop(), address::loopback_v4(0));
    address used;
    ASSERT_FALSE(bound.local_address(used));
    const auto words_of = [](auto make) -> std::string {
        try {
            make();
        } catch (const std::system_error& e) {
            return e.what();
        }
        return "no exception";
    };
    const address nowhere = address::from("unix:/no/such/directory/x");
    const std::string missing = " unix:/no/such/directory/x: No such file or directory";
    EXPECT_EQ(words_of([&] { udp::socket(loop(), used); }),
              "udp::socket " + used.to_string() + ": Address already in use");
    EXPECT_EQ(words_of([&] { local::acceptor(loop(), nowhere); }), "local::acceptor" + missing);
    EXPECT_EQ(words_of([&] { local::datagram(loop(), nowhere); }), "local::datagram" + missing);
}

TEST_P(ErrorSubject, OfAConnectOfADatagramSocketIsTheAddress) {
    const udp::socket from(loop(), address::any_v4(0));
    const auto connect = [&] { return from.connect(address::from("[::1]:9")); };
    const std::string expected = "connect [::1]:9: Address family not supported by protocol";
    EXPECT_EQ(words(connect()), expected);
    EXPECT_EQ(words_in_background(connect), expected);
}

TEST_P(ErrorSubject, IsNotThatOfAnErrorBeforeWhichWasHandled) {
    const address to = nobody();
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await as_result(tcp::connect(loop(), to)));
        co_await ex::just_error(std::make_error_code(std::errc::connection_refused));
    };
    EXPECT_EQ(words(body()), "Connection refused");
    try {
        loop().run(tcp::connect(loop(), to));
    } catch (const std::system_error&) {}
    EXPECT_EQ(words(ex::just_error(std::make_error_code(std::errc::connection_refused))),
              "Connection refused");
}

TEST_P(ErrorSubject, CostsNothingIfThereIsNoError) {
    tcp::acceptor listener(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(listener.local_address(where));
    const auto body = [&]() -> task<std::uint64_t> {
        std::uint64_t used = 0;
        for (int i = 0; i != 3; ++i) {  // the first ones fill what is kept for later
            const std::uint64_t before = allocations();
            const auto peer = co_await tcp::connect(loop(), where);
            const auto open = co_await file::open(loop(), "/dev/null", O_RDONLY);
            used = allocations() - before;
        }
        co_return used;
    };
    EXPECT_EQ(value_of(body()), 0U);
}

/// The read fails inside the completion of the connect, with the same error.
TEST_P(ErrorSubject, IsNotThatOfAnOperationWhoseErrorWasHandled) {
    const address where = nobody();
    auto [ours, theirs] = tcp_pair();
    send_all(theirs.get(), "x");
    tcp::socket other(loop(), std::move(ours));
    std::byte data[1];
    const auto read_instead = [&](auto&&) {
        kernel::fail(kernel::call::recv, ECONNREFUSED);
        return other.read_some(data) | ex::then([](std::size_t) {});
    };
    const std::string said = words(tcp::connect(loop(), where) | ex::then([](tcp::socket) {}) |
                                   ex::let_error(read_instead));
    kernel::fail_nothing();
    EXPECT_EQ(said, "Connection refused");
}

/// The read of the whole line, too, fails inside the completion of the connect.
TEST_P(ErrorSubject, IsNotThatOfAnErrorThatWasHandledForSendersOfSeveralSteps) {
    const address where = nobody();
    auto [ours, theirs] = tcp_pair();
    send_all(theirs.get(), "x");
    tcp::socket other(loop(), std::move(ours));
    std::string line;
    const auto read_instead = [&](auto&&) {
        kernel::fail(kernel::call::recv, ECONNREFUSED);
        return read_until(other, line, "\n", 64) | ex::then([](std::size_t) {});
    };
    const std::string said = words(tcp::connect(loop(), where) | ex::then([](tcp::socket) {}) |
                                   ex::let_error(read_instead));
    kernel::fail_nothing();
    EXPECT_EQ(said, "Connection refused");
}

}  // namespace
}  // namespace eddy::test::error_subject_test
