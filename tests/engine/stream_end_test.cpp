// SPDX-License-Identifier: Apache-2.0
// How streams end: in order, half, by force; and that a dead reader never raises SIGPIPE.
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"

#include <array>
#include <csignal>

#include <sys/socket.h>
#include <sys/uio.h>

namespace eddy::test::stream_end_test {
namespace {

class StreamEnd : public EngineTest {
protected:
    /// Everything up to the end or an error, with buffers of `size`.
    std::string read_all(const descriptor& d, std::size_t size, std::error_code& end) {
        std::string all;
        std::string buffer(size, '\0');
        for (;;) {
            recorder r;
            start(r, read(d, bytes(buffer)));
            if (!ends(r)) {
                return "it hangs after " + all;
            }
            if (r.count() == 0) {
                end = r.error();
                return all;
            }
            all += buffer.substr(0, r.count());
        }
    }
};
EDDY_ON_EVERY_ENGINE(StreamEnd);

TEST_P(StreamEnd, IsAReadOfNothing) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(8, '\0');
        recorder r;
        start(r, read(d, bytes(buffer)));
        settle();
        ASSERT_FALSE(r.ended());
        pair.second.reset();
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
        // And stays so.
        start(r, read(d, bytes(buffer)));
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.result(), io_result::value(0)) << r.error();
    }
}

TEST_P(StreamEnd, ComesAfterAllTheDataBeforeIt) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
        for (const std::size_t size : {1U, 3U, 7U, 4096U}) {
            fd_pair pair = make();
            const descriptor d = attach(std::move(pair.first));
            turns_in(1ms);
            write_all(pair.second.get(), "all of this");
            pair.second.reset();
            std::error_code end;
            EXPECT_EQ(read_all(d, size, end), "all of this");
            EXPECT_FALSE(end) << end;
        }
    }
}

TEST_P(StreamEnd, OfOneDirectionLeavesTheOther) {
    for (const pair_maker make : {tcp_pair, unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(64, '\0');
        recorder r;
        start(r, read(d, bytes(buffer)));
        settle();
        send_all(pair.second.get(), "the request");
        ::shutdown(pair.second.get(), SHUT_WR);
        ASSERT_TRUE(ends(r));
        std::error_code end;
        EXPECT_EQ(buffer.substr(0, r.count()) + read_all(d, 64, end), "the request");
        EXPECT_FALSE(end) << end;
        recorder w;
        start(w, write(d, bytes("the answer")));
        ASSERT_TRUE(ends(w));
        EXPECT_EQ(recv_exactly(pair.second.get(), 10), "the answer");
    }
}

TEST_P(StreamEnd, ByForceIsAReset) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    settle();
    reset_on_close(pair.second.get());
    pair.second.reset();
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::connection_reset);
}

TEST_P(StreamEnd, ByForceEndsAPendingWriteToo) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    const std::string much(16U << 20, 'x');
    recorder w;
    std::size_t sent = 0;
    do {
        start(w, send(d, bytes(much)));
        settle();
        turns_in(2ms);
        sent += w.count();
    } while (w.ended() && sent < (64U << 20));
    ASSERT_FALSE(w.ended());
    reset_on_close(pair.second.get());
    pair.second.reset();
    ASSERT_TRUE(ends(w));
    EXPECT_TRUE(w.error() == std::errc::connection_reset || w.error() == std::errc::broken_pipe)
        << w.error();
}

void nothing(int) {}

class DeadReader : public EngineTest {
protected:
    /// Runs `body` in a child where SIGPIPE kills.
    static int where_sigpipe_kills(const std::function<int()>& body) {
        return in_child([&] {
            ::signal(SIGPIPE, SIG_DFL);
            return body();
        });
    }
    static int write_to_dead_readers(engine_kind kind) {
        eddy::loop loop({.engine = kind});
        for (const pair_maker make : {make_pipe, tcp_pair, unix_stream_pair}) {
            for (int way = 0; way != 2; ++way) {
                fd_pair pair = make();
                const descriptor d(loop, std::move(pair.second));
                if (make == tcp_pair) {
                    reset_on_close(pair.first.get());
                }
                pair.first.reset();
                std::string text = "nobody reads this";
                const std::array<iovec, 2> vectors{iovec{text.data(), 6}, iovec{text.data(), 6}};
                for (int again = 0; again != 3; ++again) {
                    recorder r;
                    r.start(loop, way == 0 ? write(d, bytes(text)) : writev(d, vectors));
                    loop.run(run_mode::empty);
                    // The first may find the reset itself.
                    const bool reset = r.error() == std::errc::connection_reset && again == 0;
                    if (!reset && r.error() != std::errc::broken_pipe) {
                        return 1;
                    }
                }
            }
        }
        return 0;
    }
};
EDDY_ON_EVERY_ENGINE(DeadReader);

TEST_P(DeadReader, GivesAnErrorAndNoSignal) {
    EXPECT_EQ(where_sigpipe_kills([] { return write_to_dead_readers(GetParam()); }), 0);
}

TEST_P(DeadReader, GivesNoSignalWhereTheKernelCannotHelp) {
    EXPECT_EQ(where_sigpipe_kills([] {
                  kernel::fail(kernel::call::rwf_nosignal, ENOTSUP, 0, 1'000'000);
                  return write_to_dead_readers(GetParam());
              }),
              0);
}

TEST_P(DeadReader, OfAPendingWriteGivesNoSignal) {
    for (const int without_flag : {0, 1}) {
        EXPECT_EQ(where_sigpipe_kills([&] {
                      if (without_flag != 0) {
                          kernel::fail(kernel::call::rwf_nosignal, ENOTSUP, 0, 1'000'000);
                      }
                      eddy::loop loop({.engine = GetParam()});
                      fd_pair pipe = make_pipe();
                      const descriptor d(loop, std::move(pipe.second));
                      const std::string much(1U << 20, 'x');
                      recorder r;
                      for (;;) {
                          r.start(loop, write(d, bytes(much)));
                          loop.run_for(20ms);
                          if (!r.ended()) {
                              break;
                          }
                      }
                      pipe.first.reset();
                      loop.run(run_mode::empty);
                      return r.error() == std::errc::broken_pipe ? 0 : 1;
                  }),
                  0)
            << without_flag;
    }
}

TEST_P(DeadReader, LeavesASignalThatWasPendingBefore) {
    EXPECT_EQ(where_sigpipe_kills([] {
                  kernel::fail(kernel::call::rwf_nosignal, ENOTSUP, 0, 1'000'000);
                  sigset_t mask;
                  sigemptyset(&mask);
                  sigaddset(&mask, SIGPIPE);
                  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
                  ::raise(SIGPIPE);
                  if (const int failed = write_to_dead_readers(GetParam()); failed != 0) {
                      return failed;
                  }
                  sigset_t pending;
                  ::sigpending(&pending);
                  return sigismember(&pending, SIGPIPE) == 1 ? 0 : 2;
              }),
              0);
}

TEST_P(DeadReader, LeavesTheMaskAndTheHandlerAlone) {
    EXPECT_EQ(where_sigpipe_kills([] {
                  ::signal(SIGPIPE, nothing);
                  if (const int failed = write_to_dead_readers(GetParam()); failed != 0) {
                      return failed;
                  }
                  sigset_t mask;
                  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
                  return sigismember(&mask, SIGPIPE) == 0 && ::signal(SIGPIPE, SIG_DFL) == nothing
                             ? 0
                             : 2;
              }),
              0);
}

}  // namespace
}  // namespace eddy::test::stream_end_test
