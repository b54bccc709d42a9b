// SPDX-License-Identifier: Apache-2.0
#include "support/engine_fixture.hpp"
#include "support/pattern.hpp"

#include <eddy/loop/detail/own_io.hpp>
#include <eddy/loop/requests.hpp>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace eddy::test::transfer_now_test {
namespace {

/// Transfers without an operation. On io_uring there are none: an operation has to be started.
class TransferNow : public EngineTest {
protected:
    /// Inside a callback of the loop. Nothing: nothing was moved.
    std::optional<io_result> now(const io_request& request) {
        std::optional<io_result> found;
        bool asked = false;
        loop().post([&] {
            io_result result;
            if (own_io::transfer_now(loop(), request, result)) {
                found = result;
            }
            asked = true;
        });
        EXPECT_TRUE(until([&] { return asked; }));
        return found;
    }
    std::optional<io_result> send_now(const descriptor& to, std::string_view text) {
        return now(send(to, std::as_bytes(std::span(text))));
    }
    /// What a transfer that succeeds tells.
    std::optional<io_result> moved(std::int64_t count) const {
        return on(engine_kind::io_uring) ? std::nullopt : std::optional(io_result::value(count));
    }

    struct urgent : entry {
        explicit urgent(std::function<void()> what)
            : entry([](entry& e) noexcept { static_cast<urgent&>(e).run(); }),
              run(std::move(what)) {
            set_priority(0);
        }
        std::function<void()> run;
    };

    std::array<std::byte, 64> buffer_{};
};
EDDY_ON_EVERY_ENGINE(TransferNow);

TEST_P(TransferNow, WhatHasNothingToWaitForIsMoved) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    EXPECT_EQ(send_now(d, "hello"), moved(5));
    if (!on(engine_kind::io_uring)) {
        EXPECT_EQ(recv_exactly(pair.first.get(), 5), "hello");
    }
}

TEST_P(TransferNow, IsACompletionOfTheLoop) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    const auto before = loop().counters().inline_completions;
    send_now(d, "x");
    EXPECT_EQ(loop().counters().inline_completions - before, on(engine_kind::io_uring) ? 0U : 1U);
}

TEST_P(TransferNow, ReadsWhatThePollerHasToldOf) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    EXPECT_EQ(now(recv(d, buffer_)), std::nullopt);
    // A first operation takes a part; there is more for the next.
    send_all(pair.first.get(), "hello");
    recorder first;
    start(first, recv(d, std::span(buffer_).first(2)));
    ASSERT_TRUE(ends(first));
    EXPECT_EQ(now(recv(d, buffer_)), moved(3));
    EXPECT_EQ(now(recv(d, buffer_)), std::nullopt);
}

TEST_P(TransferNow, OvertakesNoReadThatWaits) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    recorder first;
    start(first, recv(d, buffer_));
    send_all(pair.first.get(), "mine");
    std::array<std::byte, 8> others{};
    EXPECT_EQ(now(recv(d, others)), std::nullopt);
    ASSERT_TRUE(ends(first));
    EXPECT_EQ(first.result().count(), 4U);
}

/// There is room again, and the loop has been told so, but the one that waits has not had its turn.
TEST_P(TransferNow, OvertakesNoWriteThatWaits) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    const std::string large = pattern(std::size_t{1} << 20);
    recorder first;
    start(first, eddy::send_all(d, std::as_bytes(std::span(large))));
    settle();
    ASSERT_FALSE(first.ended());
    std::string got = recv_exactly(pair.first.get(), bytes_waiting(pair.first.get()));
    std::optional<bool> moved;
    // The event is harvested first, then what is more urgent than the write that it is for.
    urgent asks([&] {
        io_result result;
        moved = own_io::transfer_now(loop(), send(d, std::as_bytes(std::span("x", 1))), result);
    });
    loop().post_next(asks);
    ASSERT_TRUE(until([&] { return moved.has_value(); }));
    EXPECT_EQ(moved, false);
    ASSERT_TRUE(until_driven([&] {
        got += recv_exactly(pair.first.get(), bytes_waiting(pair.first.get()));
        return got.size() == large.size();
    }));
    ASSERT_TRUE(ends(first));
    EXPECT_TRUE(got == large);
}

TEST_P(TransferNow, MovesNothingWhereThereIsNoRoom) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.second));
        const std::string large = pattern(std::size_t{1} << 18);
        std::size_t went = 0;
        for (int i = 0; i < 1000; ++i) {
            const auto result = send_now(d, large);
            if (!result) {
                break;
            }
            ASSERT_TRUE(result->ok());
            went += result->count();
        }
        EXPECT_EQ(went == 0, on(engine_kind::io_uring));
        recorder rest;
        start(rest, send(d, std::as_bytes(std::span("!", 1))));
        std::string got;
        ASSERT_TRUE(until_driven([&] {
            got += recv_exactly(pair.first.get(), bytes_waiting(pair.first.get()));
            return got.size() == went + 1;
        }));
        ASSERT_TRUE(ends(rest));
        EXPECT_EQ(got.back(), '!');
    }
}

TEST_P(TransferNow, TellsOfErrorsOnce) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    send_now(d, "x");
    reset_on_close(pair.first.get());
    pair.first.reset();
    recorder first;
    start(first, wait(d, interest::hangup));
    ASSERT_TRUE(ends(first));
    if (on(engine_kind::io_uring)) {
        EXPECT_EQ(send_now(d, "y"), std::nullopt);
    } else {
        EXPECT_EQ(send_now(d, "y"), io_result::system_error(ECONNRESET));
        EXPECT_EQ(send_now(d, "z"), io_result::system_error(EPIPE));
    }
}

TEST_P(TransferNow, MovesNothingOnADescriptorThatIsClosed) {
    fd_pair pair = unix_stream_pair();
    descriptor d = attach(std::move(pair.second));
    const io_request request = send(d, std::as_bytes(std::span("x", 1)));
    d.close();
    EXPECT_EQ(now(request), std::nullopt);
    EXPECT_EQ(read_to_end(pair.first.get()), "");
}

TEST_P(TransferNow, LeavesWhatIsNoPlainTransferToOperations) {
    fd_pair pair = tcp_pair();
    const descriptor d = attach(std::move(pair.second));
    send_all(pair.first.get(), "hello");
    recorder told;
    start(told, recv(d, std::span(buffer_).first(1)));  // from here on a read makes sense
    ASSERT_TRUE(ends(told));
    EXPECT_EQ(now(recv_all(d, buffer_)), std::nullopt);
    EXPECT_EQ(now(recv(d, buffer_, MSG_PEEK)), std::nullopt);
    EXPECT_EQ(now(recv(d, std::span(buffer_).first(0))), std::nullopt);
    EXPECT_EQ(now(receive(d)), std::nullopt);
    EXPECT_EQ(now(read(d, buffer_)), std::nullopt);
    EXPECT_EQ(now(recv(d, buffer_)), moved(4));
}

TEST_P(TransferNow, KeepsMessagesApart) {
    for (const pair_maker make : {&unix_datagram_pair, &unix_packet_pair}) {
        fd_pair pair = make();
        const descriptor d = attach(std::move(pair.second));
        EXPECT_EQ(send_now(d, "one"), moved(3));
        EXPECT_EQ(send_now(d, "three"), moved(5));
        if (!on(engine_kind::io_uring)) {
            std::array<char, 16> got{};
            EXPECT_EQ(::recv(pair.first.get(), got.data(), got.size(), 0), 3);
            EXPECT_EQ(::recv(pair.first.get(), got.data(), got.size(), 0), 5);
        }
    }
}

TEST_P(TransferNow, IsNotDoneWhereNothingMayCompleteInsideAStart) {
    make_loop({.inline_max = 0});
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    EXPECT_EQ(send_now(d, "x"), std::nullopt);
    EXPECT_EQ(bytes_waiting(pair.first.get()), 0U);
}

TEST_P(TransferNow, MovesNothingWhileTheLoopDrains) {
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    std::optional<bool> moved;
    recorder reading([&](recorder&) {  // cancelled by the drain
        io_result result;
        moved = own_io::transfer_now(loop(), send(d, std::as_bytes(std::span("x", 1))), result);
    });
    start(reading, recv(d, buffer_));
    loop().stop();
    loop().run(run_mode::drained);
    EXPECT_EQ(moved, false);
    EXPECT_EQ(bytes_waiting(pair.first.get()), 0U);
}

/// However much there is, others have their turn.
TEST_P(TransferNow, CountsForTheBatch) {
    make_loop({.batch_max = 8});
    fd_pair pair = unix_stream_pair();
    const descriptor d = attach(std::move(pair.second));
    unsigned count = 0;
    bool done = false;
    loop().post([&] {
        io_result result;
        const io_request request = send(d, std::as_bytes(std::span("x", 1)));
        while (count < 100 && own_io::transfer_now(loop(), request, result)) {
            ++count;
        }
        done = true;
    });
    ASSERT_TRUE(until([&] { return done; }));
    EXPECT_LE(count, 8U);
    if (!on(engine_kind::io_uring)) {
        EXPECT_GT(count, 0U);
    }
}

}  // namespace
}  // namespace eddy::test::transfer_now_test
