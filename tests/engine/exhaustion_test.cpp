// SPDX-License-Identifier: Apache-2.0
// What happens when the kernel has no more to give, or refuses.
#include "kernel/call.hpp"
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"
#include "support/no_more_fds.hpp"

#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace eddy::test::exhaustion_test {
namespace {

constexpr accept_errors every = accept_errors::every;

class Exhaustion : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            // UBSan looks at the first object of a type through a pipe, and later there is no fd
            // left for one: show it what the tests below use.
            until([] {
                return io_result::system_error(EMFILE).error() == std::errc::too_many_files_open;
            });
            recorder r;
            start(r, open("/dev/null", O_RDONLY));
            ends(r);
            unique_fd(r.result().fd()).reset();
        }
    }

    static sockaddr_in loopback(unsigned short port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
};
EDDY_ON_EVERY_ENGINE(Exhaustion);

TEST_P(Exhaustion, OfDescriptorsIsToldByAnAcceptOfEveryErrorThatDoesNotSpin) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    turns_in(1ms);
    const unique_fd client = tcp_connect(port);
    recorder r;
    {
        const no_more_fds limit;
        start(r, accept(d, 0, every));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), std::errc::too_many_files_open);
        const std::uint64_t calls = kernel::calls_made();
        start(r, accept(d, 0, every));
        EXPECT_LE(turns_in(200ms), 40U);
        EXPECT_LE(kernel::calls_made() - calls, 200U);
        // One that failed again is told of again; it pauses before that.
        if (r.ended()) {
            EXPECT_EQ(r.error(), std::errc::too_many_files_open);
            start(r, accept(d, 0, every));
        }
    }
    ASSERT_TRUE(ends(r));
    if (!r.result().ok()) {
        start(r, accept(d, 0, every));  // it had failed before the limit was lifted
        ASSERT_TRUE(ends(r));
    }
    ASSERT_TRUE(r.result().ok()) << r.error();
    const unique_fd server(r.result().fd());
    send_all(client.get(), "x");
    EXPECT_EQ(recv_exactly(server.get(), 1), "x");
}

TEST_P(Exhaustion, OfDescriptorsPausesAStreamOfConnectionsWhichGoesOn) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    turns_in(1ms);
    const unique_fd one = tcp_connect(port);
    const unique_fd two = tcp_connect(port);
    recorder r;
    std::size_t failures = 0;
    {
        const no_more_fds limit;
        start(r, accept_multishot(d, 0, every));
        ASSERT_TRUE(until([&] { return !r.results().empty(); }));
        EXPECT_EQ(r.results().front().error(), std::errc::too_many_files_open);
        const std::uint64_t calls = kernel::calls_made();
        EXPECT_LE(turns_in(200ms), 40U);
        EXPECT_LE(kernel::calls_made() - calls, 200U);
        EXPECT_FALSE(r.ended());
        failures = r.results().size();
        EXPECT_LE(failures, 8U);
    }
    ASSERT_TRUE(until([&] { return r.results().size() >= failures + 2 && r.result().ok(); }));
    loop().cancel(r.operation());
    ASSERT_TRUE(ends(r));
    std::size_t accepted = 0;
    for (const io_result result : r.results()) {
        const unique_fd fd(result.fd());
        accepted += result.ok() ? 1U : 0U;
    }
    EXPECT_EQ(accepted, 2U);
}

TEST_P(Exhaustion, OfDescriptorsCanBeWaitedForAndCancelled) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    turns_in(1ms);
    const unique_fd client = tcp_connect(port);
    const no_more_fds limit;
    recorder r;
    start(r, accept(d, 0, every));
    ASSERT_TRUE(ends(r));
    recorder paused;
    start(paused, accept_multishot(d, 0, every));
    turns_in(1ms);
    loop().cancel(paused.operation());
    ASSERT_TRUE(ends(paused));
    EXPECT_EQ(paused.error(), std::errc::operation_canceled);
}

/// After EMFILE no new event announces the connections that already wait in the backlog, so the
/// loop itself has to try again.
TEST_P(Exhaustion, OfDescriptorsIsOverWithinTheSameRunOnceThereIsRoom) {
    for (const bool waiting : {false, true}) {
        for (const bool multishot : {false, true}) {
            tcp_listener listener;
            const unsigned short port = listener.port();
            const descriptor d = attach(listener.take());
            const auto request = [&] {
                return multishot ? accept_multishot(d, 0, every) : accept(d, 0, every);
            };
            unique_fd client = waiting ? tcp_socket() : tcp_connect(port);
            unique_fd server;
            std::error_code told;
            std::optional<no_more_fds> limit;
            recorder r([&](recorder& self) {
                if (self.result().ok()) {
                    server.reset(self.result().fd());
                    loop().stop();
                    return;
                }
                told = self.error();
                limit.reset();
                if (self.ended()) {
                    start(self, request());
                }
            });
            if (waiting) {  // it is there before the limit, and so is the client's fd
                start(r, request());
                settle();
                limit.emplace();
                const sockaddr_in address = loopback(port);
                ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address),
                                    sizeof address),
                          0);
            } else {
                turns_in(1ms);
            }
            job begin([&] {
                limit.emplace();
                start(r, request());
            });
            if (!waiting) {
                loop().post(begin);
            }
            const time_point before = clock::now();
            loop().run_for(patience);
            limit.reset();
            // io_uring keeps to the limit of the time when it began.
            if (!waiting || !on(engine_kind::io_uring)) {
                EXPECT_EQ(told, std::errc::too_many_files_open);
            }
            EXPECT_TRUE(server) << "waiting " << waiting << ", multishot " << multishot;
            EXPECT_LT(clock::now() - before, 2s);
        }
    }
}

TEST_P(Exhaustion, OfDescriptorsFailsAnOpen) {
    turns_in(1ms);
    const no_more_fds limit;
    recorder r;
    start(r, open("/dev/null", O_RDONLY));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::too_many_files_open);
}

class Failure : public EngineTest {};
EDDY_ON_READINESS_ENGINES(Failure);

TEST_P(Failure, OfAnAbortedConnectionIsSkipped) {
    for (const bool multishot : {false, true}) {
        tcp_listener listener;
        const unsigned short port = listener.port();
        const descriptor d = attach(listener.take());
        const unique_fd client = tcp_connect(port);
        kernel::fail(kernel::call::accept, ECONNABORTED, 0, 40);
        recorder r;
        start(r, multishot ? accept_multishot(d) : accept(d));
        ASSERT_TRUE(until([&] { return !r.results().empty(); }));
        ASSERT_TRUE(r.results().front().ok()) << r.error();
        const unique_fd server(r.results().front().fd());
        kernel::fail_nothing();
    }
}

TEST_P(Failure, OfAcceptThatLastsDoesNotSpinAndIsOverWhenItEnds) {
    for (const bool multishot : {false, true}) {
        tcp_listener listener;
        const unsigned short port = listener.port();
        const descriptor d = attach(listener.take());
        const unique_fd client = tcp_connect(port);
        unique_fd server;
        recorder r([&](recorder& self) {
            if (self.result().ok()) {
                server.reset(self.result().fd());
                loop().stop();
            }
        });
        std::uint64_t calls = 0;
        alarm lift(loop(), [&] {
            calls = kernel::calls_made() - calls;
            kernel::fail_nothing();
            if (!r.operation().pending() && !server) {
                start(r, accept(d));
            }
        });
        kernel::fail(kernel::call::accept, EPERM, 0, 1'000'000);
        start(r, multishot ? accept_multishot(d) : accept(d));
        loop().post_after(200ms, lift);
        calls = kernel::calls_made();
        loop().run_for(patience);
        EXPECT_LT(calls, 2000U);
        EXPECT_TRUE(server) << r.error();
    }
}

TEST_P(Failure, OfOneCallEndsOneOperationWithIt) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder first;
    recorder second;
    start(first, recv(d, bytes(buffer)));
    start(second, recv(d, bytes(buffer)));
    turns_in(1ms);
    kernel::fail(kernel::call::recv, ENOMEM);
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(first));
    EXPECT_EQ(first.error(), std::errc::not_enough_memory);
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(second.count(), 3U) << second.error();
}

class EpollFailure : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engine, EpollFailure, ::testing::Values(engine_kind::epoll), engine_name);

TEST_P(EpollFailure, ToRegisterForWritingEndsTheWriteWithIt) {
    fd_pair pipe = make_pipe();
    const descriptor d = attach(std::move(pipe.second));
    const std::string much(1U << 20, 'x');
    recorder r;
    start(r, write(d, bytes(much)));
    ASSERT_TRUE(ends(r));
    kernel::fail(kernel::call::epoll_ctl, ENOSPC, 0, 2);
    recorder second;
    start(r, write(d, bytes(much)));
    start(second, write(d, bytes(much)));
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::no_space_on_device);
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(second.error(), std::errc::no_space_on_device);
    kernel::fail_nothing();
    start(r, write(d, bytes(much)));
    turns_in(1ms);
    ASSERT_FALSE(r.ended());
    recv_exactly(pipe.first.get(), bytes_waiting(pipe.first.get()));
    ASSERT_TRUE(ends(r));
    EXPECT_GT(r.count(), 0U) << r.error();
}

TEST_P(EpollFailure, ToRegisterAtAllFailsTheAttachAndRestoresTheMode) {
    static_cast<void>(loop());
    fd_pair pair = tcp_pair();
    kernel::fail(kernel::call::epoll_ctl, ENOSPC);
    descriptor out;
    EXPECT_EQ(descriptor::attach(loop(), pair.first, out), std::errc::no_space_on_device);
    EXPECT_FALSE(out);
    ASSERT_TRUE(pair.first);
    EXPECT_FALSE(is_nonblocking(pair.first.get()));
    EXPECT_FALSE(descriptor::attach(loop(), pair.first, out));
}

/// What making a loop throws.
std::system_error refusal(loop_options options) {
    try {
        const loop l(options);
    } catch (const std::system_error& e) {
        return e;
    }
    return {std::error_code(), "it was made"};
}

class Making : public ::testing::Test {
protected:
    void SetUp() override { fds_ = open_fds(); }
    void TearDown() override {
        kernel::fail_nothing();
        ::unsetenv("EDDY_ENGINE");
        EXPECT_EQ(open_fds(), fds_);
    }

private:
    std::size_t fds_ = 0;
};

TEST_F(Making, ALoopWithoutWhatItNeedsSaysWhich) {
    kernel::fail(kernel::call::epoll_create, EMFILE);
    const std::system_error e = refusal({.engine = engine_kind::epoll});
    EXPECT_EQ(e.code(), std::errc::too_many_files_open);
    EXPECT_NE(std::string(e.what()).find("epoll"), std::string::npos) << e.what();
    for (const engine_kind kind : {engine_kind::epoll, engine_kind::poll}) {
        kernel::fail(kernel::call::eventfd, ENFILE);
        EXPECT_EQ(refusal({.engine = kind}).code(), std::errc::too_many_files_open_in_system);
    }
}

#if EDDY_HAS_IO_URING
TEST_F(Making, AnEngineThatIsDeniedSaysSo) {
    for (const int error : {EPERM, ENOSYS, EACCES}) {
        kernel::fail(kernel::call::uring_setup, error);
        const std::system_error e = refusal({.engine = engine_kind::io_uring});
        EXPECT_EQ(e.code(), make_error_code(errc::engine_denied));
        EXPECT_NE(std::string(e.what()).find("io_uring"), std::string::npos) << e.what();
    }
    kernel::fail(kernel::call::uring_setup, ENOMEM);
    EXPECT_EQ(refusal({.engine = engine_kind::io_uring}).code(), std::errc::not_enough_memory);
}

TEST_F(Making, TheBestEngineFallsBack) {
    kernel::fail(kernel::call::uring_setup, EPERM);
    const loop l({.engine = engine_kind::best});
    EXPECT_EQ(l.engine(), engine_kind::epoll);
}
#endif

TEST_F(Making, TheEnvironmentChangesTheDefaultOnly) {
    ::setenv("EDDY_ENGINE", "poll", 1);
    EXPECT_EQ(loop().engine(), engine_kind::poll);
    EXPECT_EQ(loop({.engine = engine_kind::epoll}).engine(), engine_kind::epoll);
    ::setenv("EDDY_ENGINE", "epoll", 1);
    EXPECT_EQ(loop().engine(), engine_kind::epoll);
    ::setenv("EDDY_ENGINE", "", 1);
    EXPECT_EQ(loop().engine(), engine_kind::epoll);
    ::setenv("EDDY_ENGINE", "best", 1);
    kernel::fail(kernel::call::uring_setup, EPERM);
    EXPECT_EQ(loop().engine(), engine_kind::epoll);
}

TEST_F(Making, AWrongNameInTheEnvironmentIsAnErrorThatNamesIt) {
    for (const char* name : {"kqueue", "EPOLL", "automatic"}) {
        ::setenv("EDDY_ENGINE", name, 1);
        const std::system_error e = refusal({});
        EXPECT_EQ(e.code(), std::errc::invalid_argument);
        EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace eddy::test::exhaustion_test
