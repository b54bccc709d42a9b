// SPDX-License-Identifier: Apache-2.0
#include "async/running.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/io/detail/stream/whole.hpp>
#include <eddy/io/io_sender.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

namespace eddy::test::io_sender_test {
namespace {

struct note_count {
    void operator()(outcome& seen, std::size_t count) { seen.number = static_cast<int>(count); }
    void operator()(outcome&) {}
};
template <class Convert = as_count>
using io_running = running<io_sender<Convert>, note_count>;

class IoSender : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            static_cast<void>(loop());
            fd_pair pair = unix_stream_pair();
            socket = attach(std::move(pair.first));
            peer = std::move(pair.second);
        }
    }
    void TearDown() override {
        socket.close();
        peer.reset();
        EngineTest::TearDown();
    }
    io_sender<as_count> receive() { return {&loop(), recv(socket, bytes(buffer))}; }

    template <class Running>
    void expect_end(Running& r, ending how) {
        ASSERT_TRUE(until([&] { return r.ended(); }));
        EXPECT_EQ(r.how(), how);
        EXPECT_EQ(r.seen.where, &loop());
        settle();
        EXPECT_EQ(r.seen.completions, 1);
    }
    /// Nothing that happens to the socket from now on may reach the buffer.
    void expect_untouched() {
        test::send_all(peer.get(), "late");
        settle();
        turns_in(1ms);
        EXPECT_EQ(buffer, std::string(16, '.'));
        EXPECT_EQ(bytes_waiting(socket.native_handle()), 4U);
        EXPECT_TRUE(loop().empty());
    }

    std::string buffer = std::string(16, '.');
    descriptor socket;
    unique_fd peer;
};
EDDY_ON_EVERY_ENGINE(IoSender);

TEST_P(IoSender, CompletesWithWhatConvertMakesOfTheResult) {
    test::send_all(peer.get(), "hello");
    io_running<> received(receive());
    received.start_on(loop());
    expect_end(received, ending::value);
    EXPECT_EQ(received.seen.number, 5);
    EXPECT_EQ(buffer.substr(0, 5), "hello");

    io_running<as_void> ended(io_sender<as_void>(&loop(), shutdown(socket, SHUT_WR)));
    ended.start_on(loop());
    expect_end(ended, ending::value);
    EXPECT_EQ(read_to_end(peer.get()), "");
}

TEST_P(IoSender, CompletesOnItsLoopIfAnotherThreadStartsIt) {
    io_running<> r(receive());
    std::thread other([&] { r.start(); });
    test::send_all(peer.get(), "hello");
    expect_end(r, ending::value);
    other.join();
    EXPECT_EQ(r.seen.number, 5);
}

TEST_P(IoSender, ManyMayBeStartedByManyThreads) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 50;
    const std::string one_byte = "x";
    std::vector<std::unique_ptr<io_running<>>> all;
    for (std::size_t i = 0; i < threads * each; ++i) {
        all.push_back(std::make_unique<io_running<>>(
            io_sender<as_count>(&loop(), send(socket, bytes(one_byte)))));
    }
    std::vector<std::thread> starters;
    for (std::size_t t = 0; t < threads; ++t) {
        starters.emplace_back([&all, t] {
            for (std::size_t i = 0; i < each; ++i) {
                all[t * each + i]->start();
            }
        });
    }
    ASSERT_TRUE(until([&] {
        return std::all_of(all.begin(), all.end(), [](const auto& r) { return r->ended(); });
    }));
    for (std::thread& starter : starters) {
        starter.join();
    }
    for (const auto& r : all) {
        EXPECT_EQ(r->how(), ending::value);
        EXPECT_EQ(r->seen.where, &loop());
        EXPECT_EQ(r->seen.completions, 1);
    }
    EXPECT_EQ(bytes_waiting(peer.get()), threads * each);
}

TEST_P(IoSender, FailsWithTheErrorOfTheKernel) {
    peer.reset();
    io_running<> r(io_sender<as_count>(&loop(), send(socket, bytes("x"))));
    r.start_on(loop());
    expect_end(r, ending::error);
    EXPECT_EQ(r.seen.error, std::errc::broken_pipe);
}

TEST_P(IoSender, OfAnEmptyHandleFailsWhereverItIsStarted) {
    io_running<> nowhere(io_sender<as_count>(nullptr, io_request()));
    nowhere.start();
    EXPECT_EQ(nowhere.how(), ending::error);
    EXPECT_EQ(nowhere.seen.error, std::errc::bad_file_descriptor);

    const descriptor empty;
    io_running<> at_home(io_sender<as_count>(&loop(), recv(empty, bytes(buffer))));
    at_home.start_on(loop());
    expect_end(at_home, ending::error);
    EXPECT_EQ(at_home.seen.error, std::errc::bad_file_descriptor);
}

TEST_P(IoSender, StoppedBeforeItsStartDoesNothing) {
    test::send_all(peer.get(), "here");
    io_running<> here(receive());
    here.stop();
    here.start_on(loop());
    expect_end(here, ending::stopped);
    io_running<> elsewhere(receive());
    elsewhere.stop();
    std::thread([&] { elsewhere.start(); }).join();
    settle();
    EXPECT_EQ(elsewhere.how(), ending::stopped);
    EXPECT_EQ(bytes_waiting(socket.native_handle()), 4U);
}

TEST_P(IoSender, IsStoppedOnTheLoopsThread) {
    io_running<> r(receive());
    bool inside = true;
    loop().post([&] {
        r.start();
        r.stop();
        inside = r.ended();
    });
    expect_end(r, ending::stopped);
    EXPECT_FALSE(inside) << "inside the request to stop nothing completes";
    expect_untouched();
}

TEST_P(IoSender, IsStoppedByAnotherThread) {
    io_running<> r(receive());
    std::thread other;
    loop().post([&] {
        r.start();
        other = std::thread([&] { r.stop(); });
    });
    expect_end(r, ending::stopped);
    other.join();
    expect_untouched();
}

TEST_P(IoSender, IsStoppedOnItsWayToTheLoop) {
    io_running<> r(receive());
    std::thread([&] {
        r.start();
        r.stop();
    }).join();
    expect_end(r, ending::stopped);
    expect_untouched();
}

/// Asks to stop when the operation has decided to start, but is not armed for stops yet.
struct stop_in_prepare : as_count {
    ex::inplace_stop_source** source;
    void prepare(io_request&) noexcept { (*source)->request_stop(); }
};

TEST_P(IoSender, AStopInsideStartIsNotLost) {
    for (const bool here : {true, false}) {
        ex::inplace_stop_source* source = nullptr;
        io_running<stop_in_prepare> r(io_sender<stop_in_prepare>(
            &loop(), recv(socket, bytes(buffer)), stop_in_prepare{{}, &source}));
        source = &r.source;
        if (here) {
            r.start_on(loop());
        } else {
            std::thread([&] { r.start(); }).join();
        }
        expect_end(r, ending::stopped);
    }
    expect_untouched();
}

TEST_P(IoSender, IsStoppedOnceIfItIsAskedOften) {
    io_running<> r(receive());
    loop().post([&] {
        r.start();
        r.stop();
        r.stop();
    });
    expect_end(r, ending::stopped);
    r.stop();
    settle();
    EXPECT_EQ(r.seen.completions, 1);
}

TEST_P(IoSender, ClosingTheDescriptorIsAnErrorAndNotAStop) {
    io_running<> r(receive());
    loop().post([&] {
        r.start();
        socket.close();
    });
    expect_end(r, ending::error);
    EXPECT_EQ(r.seen.error, std::errc::operation_canceled);
}

TEST_P(IoSender, AStopAfterTheCloseStillIsTheError) {
    io_running<> r(receive());
    loop().post([&] {
        r.start();
        socket.close();
        std::thread([&] { r.stop(); }).join();
    });
    expect_end(r, ending::error);
    EXPECT_EQ(r.seen.error, std::errc::operation_canceled);
}

TEST_P(IoSender, OfADescriptorThatWasClosedOnTheWayFails) {
    io_running<> r(receive());
    r.start();  // the loop does not run: it is posted
    socket.close();
    expect_end(r, ending::error);
    EXPECT_EQ(r.seen.error, std::errc::bad_file_descriptor);
}

TEST_P(IoSender, AResultThatExistsIsDelivered) {
    for (const bool from_elsewhere : {false, true}) {
        test::send_all(peer.get(), "data");
        io_running<> r(receive());
        loop().post([&] {
            r.start();
            if (from_elsewhere) {
                std::thread([&] { r.stop(); }).join();
            } else {
                r.stop();
            }
        });
        ASSERT_TRUE(until([&] { return r.ended(); }));
        if (r.how() == ending::value) {
            EXPECT_EQ(r.seen.number, 4);
            EXPECT_EQ(bytes_waiting(socket.native_handle()), 0U);
        } else {
            EXPECT_EQ(r.how(), ending::stopped);
            EXPECT_EQ(bytes_waiting(socket.native_handle()), 4U);
            EXPECT_EQ(recv_exactly(socket.native_handle(), 4), "data");
        }
    }
}

TEST_P(IoSender, EndsStoppedIfTheLoopDrains) {
    io_running<> waiting(receive());
    io_running<> posted(receive());
    waiting.start_on(loop());
    settle();
    std::thread([&] { posted.start(); }).join();
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    EXPECT_EQ(waiting.how(), ending::stopped);
    EXPECT_EQ(posted.how(), ending::stopped);
}

TEST_P(IoSender, APendingOneMayBeDestroyedOnTheLoopsThread) {
    auto waiting = std::make_unique<io_running<>>(receive());
    auto posted = std::make_unique<io_running<>>(receive());
    auto stopped_here = std::make_unique<io_running<>>(receive());
    auto stopped_elsewhere = std::make_unique<io_running<>>(receive());
    auto both = std::make_unique<io_running<>>(receive());
    loop().post([&] {
        waiting->start();
        stopped_here->start();
        stopped_elsewhere->start();
        stopped_here->stop();
        std::thread([&] {
            posted->start();
            stopped_elsewhere->stop();
            both->start();
            both->stop();
        }).join();
        waiting.reset();
        posted.reset();
        stopped_here.reset();
        stopped_elsewhere.reset();
        both.reset();
    });
    settle();
    expect_untouched();
}

TEST_P(IoSender, APendingOneMayBeDestroyedWhileTheLoopDoesNotRun) {
    auto waiting = std::make_unique<io_running<>>(receive());
    auto posted = std::make_unique<io_running<>>(receive());
    waiting->start_on(loop());
    settle();
    posted->start();
    waiting.reset();
    posted.reset();
    expect_untouched();
}

TEST_P(IoSender, OneWithAResultThatIsNotDeliveredYetMayBeDestroyed) {
    auto first = std::make_unique<io_running<>>(receive());
    auto second = std::make_unique<io_running<>>(receive());
    test::send_all(peer.get(), "x");
    std::thread([&] { first->start(); }).join();
    loop().post([&] {
        second->start();
        first.reset();
        second.reset();
    });
    settle();
    EXPECT_TRUE(loop().empty());
}

/// Reads into itself, so that the sender needs no buffer.
struct into_itself {
    using signature = ex::set_value_t(std::size_t);
    std::array<std::byte, 4> own{};
    std::string* copy;

    void prepare(io_request& request) noexcept {
        request.data = own.data();
        request.size = own.size();
    }
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) noexcept {
        copy->assign(reinterpret_cast<const char*>(own.data()), result.count());
        ex::set_value(std::forward<Receiver>(receiver), result.count());
    }
};

TEST_P(IoSender, AConvertMayMakeTheRequestPointIntoItself) {
    for (const bool here : {true, false}) {
        test::send_all(peer.get(), "abcd");
        std::string copy;
        io_running<into_itself> r(
            io_sender<into_itself>(&loop(), recv(socket, {}), into_itself{{}, &copy}));
        if (here) {
            r.start_on(loop());
        } else {
            std::thread([&] { r.start(); }).join();
        }
        expect_end(r, ending::value);
        EXPECT_EQ(copy, "abcd");
    }
}

TEST_P(IoSender, MayBeConnectedTwiceAndSaysWhereItCompletes) {
    const io_sender<as_count> sender = receive();
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)),
              loop().get_scheduler());
    test::send_all(peer.get(), "ab");
    io_running<> first(sender);
    first.start_on(loop());
    expect_end(first, ending::value);
    test::send_all(peer.get(), "cd");
    io_running<> second(sender);
    second.start_on(loop());
    expect_end(second, ending::value);
    EXPECT_EQ(second.seen.number, 2);
}

/// Two bytes by two calls. `keeps`: what the first one brought is the value if the second is
/// stopped.
template <bool Keeps>
struct two_calls {
    using signature = ex::set_value_t(std::size_t);
    bool again(io_result result, io_request&) noexcept {
        total += result.count();
        return total < 2;
    }
    bool has_part() const noexcept
        requires Keeps
    {
        return total != 0;
    }
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), total);
    }
    std::size_t total = 0;
};

TEST_P(IoSender, AStopInALaterCallLosesNothingIfConvertKeepsIt) {
    const auto stopped_in_the_second_call = [&]<bool Keeps>(two_calls<Keeps> convert) {
        using sender = io_sender<two_calls<Keeps>>;
        io_running<two_calls<Keeps>> r(
            sender(&loop(), recv(socket, std::span(bytes(buffer)).first(1)), convert));
        r.start_on(loop());
        settle();
        test::send_all(peer.get(), "a");
        settle();
        EXPECT_FALSE(r.ended());
        r.stop();
        expect_end(r, Keeps ? ending::value : ending::stopped);
        EXPECT_EQ(r.seen.number, Keeps ? 1 : 0);
    };
    stopped_in_the_second_call(two_calls<true>());
    stopped_in_the_second_call(two_calls<false>());
}

TEST(WholeTransferOfMuch, KeepsCountOverSeveralCalls) {
    constexpr std::size_t gib = std::size_t{1} << 30U;
    std::array<std::byte, 1> begin{};  // never looked at
    detail::whole<direction::out> convert(3 * gib);
    io_request request;
    request.data = begin.data();
    convert.prepare(request);
    EXPECT_EQ(request.size, gib);
    EXPECT_FALSE(convert.has_part()) << "stopped in the first call, nothing was done";
    EXPECT_TRUE(convert.again(io_result::value(gib), request));
    EXPECT_EQ(request.data, begin.data() + gib);
    EXPECT_TRUE(convert.has_part());
    EXPECT_TRUE(convert.again(io_result::value(gib), request));
    EXPECT_FALSE(convert.again(io_result::value(gib), request));
}

TEST(WholeTransferOfMuch, GoesOnBehindWhatTheEngineHasMovedAlongAlready) {
    constexpr std::size_t gib = std::size_t{1} << 30U;
    constexpr std::size_t first_call = 1000;
    std::array<std::byte, 1> begin{};  // never looked at
    detail::whole<direction::out> convert(gib + 5);
    io_request request;
    request.data = begin.data();
    request.offset = 7;
    convert.prepare(request);
    request.data = begin.data() + first_call;
    request.size -= first_call;
    request.offset += std::int64_t{first_call};
    EXPECT_TRUE(convert.again(io_result::value(gib), request));
    EXPECT_EQ(request.data, begin.data() + gib);
    EXPECT_EQ(request.size, 5U);
    EXPECT_EQ(request.offset, std::int64_t{gib} + 7);
}

struct as_fd {
    using signature = ex::set_value_t(std::size_t);
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), static_cast<std::size_t>(result.fd()));
    }
};

TEST_P(IoSender, OpensAndClosesAFile) {
    io_running<as_fd> opened(io_sender<as_fd>(&loop(), open("/dev/null", O_RDONLY)));
    opened.start_on(loop());
    expect_end(opened, ending::value);
    descriptor file = attach(unique_fd(opened.seen.number));
    io_running<as_void> closed(io_sender<as_void>(&loop(), close(file)));
    closed.start_on(loop());
    expect_end(closed, ending::value);
    EXPECT_FALSE(is_open(opened.seen.number));
}

class IoSenderDeathTest : public IoSender {};
EDDY_ON_EVERY_ENGINE(IoSenderDeathTest);

TEST_P(IoSenderDeathTest, DestroyingAPendingOneOnAnotherThreadIsMisuse) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            auto waiting = std::make_unique<io_running<>>(receive());
            loop().post([&] {
                waiting->start();
                std::thread([&] { waiting.reset(); }).join();
            });
            settle();
        },
        "not on its loop's thread");
}

/// Also if a part of it goes at once.
TEST_P(IoSender, ARequestForAllIsWhole) {
    const std::string much(4 << 20, 'm');
    io_running<> r(io_sender<as_count>(&loop(), eddy::send_all(socket, bytes(much))));
    loop().post([&] { r.start(); });
    settle();
    EXPECT_FALSE(r.ended());
    std::size_t seen = 0;
    ASSERT_TRUE(until_driven([&] {
        seen += recv_exactly(peer.get(), bytes_waiting(peer.get())).size();
        return seen == much.size();
    }));
    expect_end(r, ending::value);
    EXPECT_EQ(r.seen.number, 4 << 20);
}

}  // namespace
}  // namespace eddy::test::io_sender_test
