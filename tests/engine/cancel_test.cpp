// SPDX-License-Identifier: Apache-2.0
// Taking an operation back, and limiting it in time. A result that exists is never lost.
#include "support/engine_fixture.hpp"

#include <algorithm>

#include <sys/socket.h>

namespace eddy::test::cancel_test {
namespace {

class Cancel : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Cancel);

TEST_P(Cancel, BeforeTheLoopHasRunCompletesOnce) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    loop().cancel(r.operation());
    EXPECT_FALSE(r.ended()) << "inside cancel()";
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.error(), std::errc::operation_canceled);
    settle();
    EXPECT_EQ(r.results().size(), 1U);
}

TEST_P(Cancel, OfAPendingReadCompletesItOnceWithCanceled) {
    for (const bool nonblocking : {false, true}) {
        for (const pair_maker make : {tcp_pair, unix_stream_pair, make_pipe}) {
            fd_pair pair = make();
            set_nonblocking(pair.first.get(), nonblocking);
            const descriptor d = attach(std::move(pair.first));
            std::string buffer(8, '\0');
            recorder r;
            start(r, read(d, bytes(buffer)));
            turns_in(1ms);
            loop().cancel(r.operation());
            loop().cancel(r.operation());
            ASSERT_TRUE(ends(r));
            EXPECT_EQ(r.error(), std::errc::operation_canceled);
            settle();
            EXPECT_EQ(r.results().size(), 1U);
            // The descriptor is as good as before.
            write_all(pair.second.get(), "abc");
            start(r, read(d, bytes(buffer)));
            ASSERT_TRUE(ends(r));
            EXPECT_EQ(r.count(), 3U) << r.error();
        }
    }
}

TEST_P(Cancel, OfEveryKindOfOperationEndsIt) {
    fd_pair pair = tcp_pair();
    fd_pair pipe = make_pipe();
    tcp_listener listener;
    const descriptor in = attach(std::move(pair.first));
    const descriptor full = attach(std::move(pipe.second));
    const descriptor ear = attach(listener.take());
    std::string buffer(8, '\0');
    const std::string much(4U << 20, 'x');
    std::vector<std::unique_ptr<recorder>> pending;
    recorder filler;
    do {
        start(filler, write(full, bytes(much)));
        turns_in(2ms);
    } while (filler.ended());
    for (const io_request& request :
         {recv(in, bytes(buffer)), wait(in, interest::readable),
          wait_multishot(in, interest::readable), wait(full, interest::writable),
          write(full, bytes(much)), accept(ear), accept_multishot(ear)}) {
        pending.push_back(std::make_unique<recorder>());
        start(*pending.back(), request);
    }
    turns_in(1ms);
    for (auto& r : pending) {
        ASSERT_FALSE(r->ended());
        loop().cancel(r->operation());
    }
    loop().cancel(filler.operation());
    ASSERT_TRUE(ends(filler));
    for (auto& r : pending) {
        ASSERT_TRUE(ends(*r));
        EXPECT_EQ(r->error(), std::errc::operation_canceled);
        EXPECT_EQ(r->results().size(), 1U);
    }
}

TEST_P(Cancel, AfterCompletionDoesNothing) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    send_all(pair.second.get(), "abc");
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)));
    ASSERT_TRUE(ends(r));
    loop().cancel(r.operation());
    settle();
    EXPECT_EQ(r.results().size(), 1U);
    // Nor does it hit the next one.
    start(r, recv(d, bytes(buffer)));
    turns_in(1ms);
    EXPECT_FALSE(r.ended());
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U);
}

TEST_P(Cancel, FromInsideACompletionEndsAnother) {
    fd_pair one = tcp_pair();
    fd_pair two = tcp_pair();
    const descriptor d1 = attach(std::move(one.first));
    const descriptor d2 = attach(std::move(two.first));
    std::string b1(8, '\0');
    std::string b2(8, '\0');
    recorder second;
    recorder first([&](recorder&) { loop().cancel(second.operation()); });
    start(first, recv(d1, bytes(b1)));
    start(second, recv(d2, bytes(b2)));
    settle();
    send_all(one.second.get(), "abc");
    ASSERT_TRUE(ends(first));
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(second.error(), std::errc::operation_canceled);
}

TEST_P(Cancel, RacingTheDataLosesNoBytes) {
    for (const bool nonblocking : {false, true}) {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), nonblocking);
        const descriptor d = attach(std::move(pair.first));
        std::size_t sent = 0;
        std::size_t received = 0;
        std::string buffer(64, '\0');
        for (int round = 0; round != 500; ++round) {
            recorder r;
            start(r, recv(d, bytes(buffer)));
            if (round % 3 != 0) {
                loop().poll();
            }
            send_all(pair.second.get(), "abc");
            sent += 3;
            if (round % 2 != 0) {
                loop().poll();
            }
            loop().cancel(r.operation());
            ASSERT_TRUE(ends(r));
            ASSERT_EQ(r.results().size(), 1U);
            if (r.error()) {
                ASSERT_EQ(r.error(), std::errc::operation_canceled);
            }
            received += r.count();
        }
        EXPECT_EQ(received + bytes_waiting(d.native_handle()), sent);
    }
}

TEST_P(Cancel, RacingConnectionsLosesNone) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    std::vector<unique_fd> clients;
    std::vector<unique_fd> servers;
    for (int round = 0; round != 100; ++round) {
        recorder r;
        start(r, round % 2 == 0 ? accept(d) : accept_multishot(d));
        loop().poll();
        clients.push_back(tcp_connect(port));
        if (round % 3 == 0) {
            loop().poll();
        }
        loop().cancel(r.operation());
        ASSERT_TRUE(ends(r));
        for (const io_result result : r.results()) {
            if (result) {
                servers.emplace_back(result.fd());
            }
        }
    }
    recorder rest;
    start(rest, accept_multishot(d));
    ASSERT_TRUE(until([&] { return servers.size() + rest.results().size() == clients.size(); }));
    loop().cancel(rest.operation());
    ASSERT_TRUE(ends(rest));
    for (const io_result result : rest.results()) {
        if (result) {
            servers.emplace_back(result.fd());
        }
    }
    EXPECT_EQ(servers.size(), clients.size());
}

class Deadline : public EngineTest {};
EDDY_ON_EVERY_ENGINE(Deadline);

TEST_P(Deadline, EndsAnOperationWithAnErrorOfItsOwn) {
    for (const bool nonblocking : {false, true}) {
        fd_pair pair = tcp_pair();
        set_nonblocking(pair.first.get(), nonblocking);
        const descriptor d = attach(std::move(pair.first));
        std::string buffer(8, '\0');
        recorder r;
        const time_point deadline = clock::now() + 20ms;
        start(r, recv(d, bytes(buffer)), deadline);
        ASSERT_TRUE(ends(r));
        EXPECT_GE(clock::now(), deadline);
        EXPECT_EQ(r.error(), make_error_code(errc::timed_out));
        EXPECT_EQ(r.error(), std::errc::timed_out);
        EXPECT_NE(r.error(), std::error_code(ETIMEDOUT, std::system_category()));
        EXPECT_EQ(r.results().size(), 1U);
    }
}

TEST_P(Deadline, InThePastEndsWhatCannotBeDoneAtOnce) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    for (const time_point deadline : {clock::now() - 1h, time_point::min(), time_point()}) {
        recorder r;
        start(r, recv(d, bytes(buffer)), deadline);
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.error(), make_error_code(errc::timed_out));
    }
}

TEST_P(Deadline, AtTheEndOfTimeNeverComes) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    for (const time_point deadline : {never, never - 1ns, saturating_add(clock::now(), 1h)}) {
        recorder r;
        start(r, recv(d, bytes(buffer)), deadline);
        turns_in(5ms);
        ASSERT_FALSE(r.ended());
        send_all(pair.second.get(), "abc");
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.count(), 3U);
    }
}

TEST_P(Deadline, IsForgottenWithTheOperation) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    recorder r;
    start(r, recv(d, bytes(buffer)), clock::now() + 20ms);
    send_all(pair.second.get(), "abc");
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.count(), 3U);
    EXPECT_EQ(loop().next_deadline(), never);
    start(r, recv(d, bytes(buffer)));
    turns_in(40ms);
    EXPECT_FALSE(r.ended());
}

TEST_P(Deadline, OfAThousandOperationsEndsEachOfThem) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::string buffer(8, '\0');
    std::vector<std::unique_ptr<recorder>> all;
    const time_point from = clock::now();
    std::size_t ended = 0;
    for (int i = 0; i != 1000; ++i) {
        all.push_back(std::make_unique<recorder>([&](recorder& r) {
            ++ended;
            EXPECT_EQ(r.error(), make_error_code(errc::timed_out));
        }));
        start(*all.back(), recv(d, bytes(buffer)), from + (i % 2 == 0 ? 30ms : 10ms));
    }
    ASSERT_TRUE(until([&] { return ended == 1000; }));
    EXPECT_GE(clock::now(), from + 30ms);
    settle();
    EXPECT_EQ(ended, 1000U);
}

TEST_P(Deadline, OfAStreamOfConnectionsEndsIt) {
    tcp_listener listener;
    const unsigned short port = listener.port();
    const descriptor d = attach(listener.take());
    recorder r;
    start(r, accept_multishot(d), clock::now() + 50ms);
    const unique_fd client = tcp_connect(port);
    ASSERT_TRUE(ends(r));
    ASSERT_EQ(r.results().size(), 2U);
    const unique_fd server(r.results()[0].fd());
    EXPECT_TRUE(server);
    EXPECT_EQ(r.error(), make_error_code(errc::timed_out));
}

TEST_P(Deadline, RacingTheDataLosesNoBytes) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.first));
    std::size_t sent = 0;
    std::size_t received = 0;
    std::string buffer(64, '\0');
    for (int round = 0; round != 200; ++round) {
        recorder r;
        start(r, recv(d, bytes(buffer)), clock::now() + std::chrono::microseconds(round));
        loop().poll();
        send_all(pair.second.get(), "abc");
        sent += 3;
        ASSERT_TRUE(ends(r));
        received += r.count();
    }
    EXPECT_EQ(received + bytes_waiting(d.native_handle()), sent);
}

}  // namespace
}  // namespace eddy::test::cancel_test
