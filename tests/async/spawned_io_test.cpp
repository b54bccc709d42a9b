// SPDX-License-Identifier: Apache-2.0
// The I/O of tasks that only the end of their loop stops: their operations have rooms outside the
// frames, which are given back as soon as there is a result.
#include "async/playing_tasks.hpp"

#include <eddy/async/detail/await/spare_room.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/udp/socket.hpp>
#include <eddy/loop/requests.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace eddy::test::spawned_io_test {
namespace {

class SpawnedIo : public PlayingTasks {
protected:
    /// What `fd` gets, up to so much, while the loop runs.
    std::string gets(int fd, std::size_t size) {
        std::string seen;
        EXPECT_TRUE(until([&] {
            if (const std::size_t there = bytes_waiting(fd); there != 0) {
                seen += recv_exactly(fd, there);
            }
            return seen.size() >= size;
        }));
        return seen;
    }
};
EDDY_ON_EVERY_ENGINE(SpawnedIo);

task<> echo(stream peer, bool& over) {
    while (const lease received = co_await peer.receive()) {
        co_await peer.write(received.data());
    }
    over = true;
}

/// Whatever there is, or is not, to read.
TEST_P(SpawnedIo, NothingIsReadAndWrittenAtOnce) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair}) {
        fd_pair pair = make();
        const stream quiet = make_stream(std::move(pair.second));
        std::optional<std::size_t> sum;
        const auto body = [&]() -> task<> {
            std::size_t moved = co_await quiet.read_some(std::span<std::byte>());
            moved += co_await quiet.read(std::span<std::byte>());
            moved += co_await quiet.write_some(std::span<const std::byte>());
            sum = moved + co_await quiet.write(std::span<const std::byte>());
        };
        spawn(loop(), body());
        ASSERT_TRUE(until([&] { return sum.has_value(); }));
        EXPECT_EQ(sum, 0U);
    }
}

TEST_P(SpawnedIo, GoesOnWithWhatCame) {
    fd_pair pair = unix_stream_pair();
    bool over = false;
    spawn(loop(), echo(make_stream(std::move(pair.second)), over));
    settle();
    for (const char* text : {"one", "two"}) {
        test::send_all(pair.first.get(), text);
        ASSERT_TRUE(until([&] { return bytes_waiting(pair.first.get()) == 3; }));
        EXPECT_EQ(recv_exactly(pair.first.get(), 3), text);
    }
    pair.first.reset();
    EXPECT_TRUE(until([&] { return over; }));
}

TEST_P(SpawnedIo, MovesMoreThanTheKernelTakesAtOnce) {
    fd_pair pair = unix_stream_pair();
    stream out = make_stream(std::move(pair.second));
    const std::string much(4 << 20, 'm');
    std::optional<std::size_t> written;
    const auto write = [&]() -> task<> { written = co_await out.write(bytes(much)); };
    spawn(loop(), write());
    settle();
    EXPECT_FALSE(written);
    EXPECT_EQ(gets(pair.first.get(), much.size()).size(), much.size());
    EXPECT_TRUE(until([&] { return written.has_value(); }));
    EXPECT_EQ(written, much.size());
}

TEST_P(SpawnedIo, MovesMoreVectorsThanTheKernelTakesAtOnce) {
    fd_pair pair = unix_stream_pair();
    stream out = make_stream(std::move(pair.second));
    std::array<std::string, 3> parts;
    std::array<iovec, 3> vectors{};
    for (std::size_t i = 0; i != parts.size(); ++i) {
        parts[i].assign((1U << 20U) + i, static_cast<char>('a' + i));
        vectors[i] = {parts[i].data(), parts[i].size()};
    }
    const std::string all = parts[0] + parts[1] + parts[2];
    std::optional<std::size_t> written;
    const auto write = [&]() -> task<> { written = co_await out.write(std::span(vectors)); };
    spawn(loop(), write());
    settle();
    EXPECT_FALSE(written);
    EXPECT_TRUE(gets(pair.first.get(), all.size()) == all);
    EXPECT_TRUE(until([&] { return written.has_value(); }));
    EXPECT_EQ(written, all.size());
}

TEST_P(SpawnedIo, ThrowsItsErrorsWhetherItWaitedOrNot) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    std::error_code waited;
    std::error_code at_once;
    bool over = false;
    const auto body = [&]() -> task<> {
        try {
            static_cast<void>(co_await peer.receive());
        } catch (const std::system_error& error) {
            waited = error.code();
        }
        try {
            co_await stream().write(bytes("nobody"));
        } catch (const std::system_error& error) {
            at_once = error.code();
        }
        over = true;
    };
    spawn(loop(), body());
    settle();
    EXPECT_FALSE(waited);
    loop().post([&] { stream(std::move(peer)); });  // closes it
    ASSERT_TRUE(until([&] { return over; }));
    EXPECT_EQ(waited, std::errc::operation_canceled);
    EXPECT_EQ(at_once, std::errc::bad_file_descriptor);
}

TEST_P(SpawnedIo, GivesEachAwaitOfAnExpressionItsOwnResult) {
    fd_pair pair = unix_stream_pair();
    stream a = make_stream(std::move(pair.first));
    stream b = make_stream(std::move(pair.second));
    std::string first(3, '.');
    std::string second(4, '.');
    std::size_t sum = 0;
    const auto reads = [&]() -> task<> {
        sum = 10 * co_await b.read(bytes(first)) + co_await b.read(bytes(second));
    };
    const auto writes = [&]() -> task<> {
        co_await a.write(bytes("abc"));
        co_await loop().get_scheduler().schedule_after(1ms);
        co_await a.write(bytes("defg"));
    };
    spawn(loop(), reads());
    spawn(loop(), writes());
    ASSERT_TRUE(until([&] { return sum != 0; }));
    EXPECT_EQ(sum, 34U);
    EXPECT_EQ(first + second, "abcdefg");
}

TEST_P(SpawnedIo, OfAChildIsStoppedByADrain) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    int left = 0;
    const auto child = [&]() -> task<std::size_t> {
        const at_exit exit([&] { ++left; });
        const lease received = co_await peer.receive();
        ADD_FAILURE() << "it must not go on";
        co_return received.data().size();
    };
    const auto parent = [&]() -> task<> {
        const at_exit exit([&] { ++left; });
        co_await child();
        ADD_FAILURE() << "it must not go on";
    };
    spawn(loop(), parent());
    settle();
    EXPECT_EQ(left, 0);
    loop().post([&] { loop().stop(); });
    loop().run(run_mode::drained);
    EXPECT_EQ(left, 2);
}

TEST_P(SpawnedIo, EndsWhenItsLoopIsDestroyed) {
    int left = 0;
    {
        eddy::loop other({.engine = GetParam()});
        fd_pair pair = unix_stream_pair();
        const auto waits = [&](stream peer) -> task<> {
            const at_exit exit([&] { ++left; });
            static_cast<void>(co_await peer.receive());
            ADD_FAILURE() << "it must not go on";
        };
        spawn(other, waits(stream(other, std::move(pair.first))));
        spawn(other, waits(stream(other, std::move(pair.second))));
        other.poll();
        EXPECT_EQ(left, 0);
    }
    EXPECT_EQ(left, 2);
}

/// g++ 12 makes both awaiters before the first await begins.
TEST_P(SpawnedIo, OfAnExpressionMayEndBeforeTheSecondAwaitHasBegun) {
    int left = 0;
    {
        eddy::loop other({.engine = GetParam()});
        fd_pair pair = unix_stream_pair();
        const auto waits = [&](stream peer) -> task<> {
            const at_exit exit([&] { ++left; });
            std::string buffer(8, '.');
            if (co_await peer.read(bytes(buffer)) + co_await peer.read(bytes(buffer)) != 0) {
                ADD_FAILURE() << "it must not go on";
            }
        };
        spawn(other, waits(stream(other, std::move(pair.second))));
        other.poll();
        EXPECT_EQ(left, 0);
    }
    EXPECT_EQ(left, 1);
}

TEST_P(SpawnedIo, MayBeThatOfAnotherLoop) {
    fd_pair pair = unix_stream_pair();
    eddy::loop other({.engine = GetParam()});
    stream peer(other, std::move(pair.second));
    std::size_t count = 0;
    const auto body = [&]() -> task<> {
        const lease received = co_await peer.receive();
        EXPECT_EQ(eddy::loop::current(), &loop());
        count = received.data().size();
    };
    spawn(loop(), body());
    settle();
    test::send_all(pair.first.get(), "there");
    ASSERT_TRUE(until([&] {
        other.poll();
        return count != 0;
    }));
    EXPECT_EQ(count, 5U);
}

/// A datagram with its address is larger than the sender's request, whose place others take.
TEST_P(SpawnedIo, GivesWhatIsLargerThanItsRequest) {
    const udp::socket a(loop(), address::loopback_v4(0));
    const udp::socket b(loop(), address::loopback_v4(0));
    address from;
    address to;
    ASSERT_FALSE(a.local_address(from));
    ASSERT_FALSE(b.local_address(to));
    std::string first(8, '.');
    std::string second(8, '.');
    std::size_t sum = 0;
    int left = 0;
    const auto reads = [&]() -> task<> {
        const at_exit exit([&] { ++left; });
        const datagram got = co_await b.recv_from(bytes(first));
        EXPECT_EQ(got.from, from);
        const auto [size, truncated, whose] = co_await b.recv_from(bytes(second));
        EXPECT_EQ(whose, from);
        sum = got.size + size;
        static_cast<void>(co_await b.recv_from(bytes(first)));
        ADD_FAILURE() << "it must not go on";
    };
    const auto writes = [&]() -> task<> {
        co_await a.send_to(bytes("abc"), to);
        co_await loop().get_scheduler().schedule_after(1ms);
        co_await a.send_to(bytes("defg"), to);
    };
    spawn(loop(), reads());
    spawn(loop(), writes());
    ASSERT_TRUE(until([&] { return sum != 0; }));
    EXPECT_EQ(sum, 7U);
    EXPECT_EQ(first.substr(0, 3) + second.substr(0, 4), "abcdefg");
    loop().post([&] { loop().stop(); });
    loop().run(run_mode::drained);
    EXPECT_EQ(left, 1);
}

TEST(SpawnedIoDeathTest, AnAwaitedRvalueIsUsedUp) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto twice = [](std::string_view sent) {
        eddy::loop home;
        fd_pair pair = unix_stream_pair();
        const stream peer(home, std::move(pair.first));
        test::send_all(pair.second.get(), sent);
        const auto body = [&]() -> task<> {
            std::array<std::byte, 1> buffer{};
            auto read = peer.read_some(buffer);
            co_await std::move(read);
            co_await std::move(read);
        };
        spawn(home, body());
        home.run(run_mode::empty);
    };
    EXPECT_DEATH(twice("ab"), "what was moved into a co_await is used up");
    EXPECT_DEATH(twice("a"), "what was moved into a co_await is used up");
}

/// A receive after another.
struct single_receives {
    explicit single_receives(const stream& of) : from(of) {}
    auto next() const noexcept { return from.receive(); }
    const stream& from;
};

TEST_P(SpawnedIo, AllocatesNothingInSteadyState) {
    spawned_game<single_receives>(10);
    EXPECT_EQ(spawned_game<single_receives>(10), spawned_game<single_receives>(1000));
}

TEST_P(SpawnedIo, AllocatesNothingInSteadyStateInANurseryEither) {
    nursed_game<single_receives>(10);
    EXPECT_EQ(nursed_game<single_receives>(10), nursed_game<single_receives>(1000));
}

TEST(SpareRooms, AreKeptOnlyByAThreadThatDropsThemAtItsEnd) {
    const auto keeps_one = [] { return detail::rooms_of_thread[0].first != nullptr; };
    void* const elsewhere = detail::make_room(detail::room::small);
    std::thread([&] {
        detail::give_room_back(detail::room::small, elsewhere);
        EXPECT_FALSE(keeps_one()) << "it has made none";
        void* const here = detail::take_room(detail::room::small);
        detail::give_room_back(detail::room::small, here);
        EXPECT_TRUE(keeps_one());
        EXPECT_EQ(detail::take_room(detail::room::small), here);
        detail::give_room_back(detail::room::small, here);
    }).join();
}

/// A request for all of it, with a Convert that knows of no parts.
TEST_P(SpawnedIo, ARequestForAllIsWhole) {
    fd_pair pair = unix_stream_pair();
    const descriptor out = attach(std::move(pair.second));
    const std::string much(4 << 20, 'm');
    std::optional<std::size_t> written;
    const auto write = [&]() -> task<> {
        written = co_await io_sender<as_count>(&loop(), eddy::send_all(out, bytes(much)));
    };
    spawn(loop(), write());
    settle();
    EXPECT_FALSE(written);
    std::size_t seen = 0;
    ASSERT_TRUE(until_driven([&] {
        seen += recv_exactly(pair.first.get(), bytes_waiting(pair.first.get())).size();
        return seen == much.size();
    }));
    EXPECT_TRUE(until([&] { return written.has_value(); }));
    EXPECT_EQ(written, much.size());
}

TEST_P(SpawnedIo, ClosesADescriptor) {
    fd_pair pair = unix_stream_pair();
    descriptor closed = attach(std::move(pair.second));
    bool over = false;
    const auto body = [&]() -> task<> {
        co_await io_sender<as_void>(&loop(), close(closed));
        over = true;
    };
    spawn(loop(), body());
    ASSERT_TRUE(until([&] { return over; }));
    EXPECT_EQ(read_to_end(pair.first.get()), "");
}

/// A Convert that takes the lease by the loop, and one that does not take it at all.
struct size_of_lease {
    using signature = ex::set_value_t(std::size_t);
    template <class Receiver>
    void operator()(io_result, Receiver&& receiver, eddy::loop& home,
                    const io_operation& op) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver), home.take_lease(op).size());
    }
};

TEST_P(SpawnedIo, LeasesComeBackWhateverIsMadeOfThem) {
    fd_pair pair = unix_stream_pair();
    const descriptor in = attach(std::move(pair.second));
    std::size_t sum = 0;
    bool over = false;
    const auto body = [&]() -> task<> {
        sum += co_await io_sender<size_of_lease>(&loop(), receive(in));
        sum += co_await io_sender<as_count>(&loop(), receive(in));
        over = true;
    };
    spawn(loop(), body());
    settle();
    test::send_all(pair.first.get(), "three");
    ASSERT_TRUE(until([&] { return sum == 5; }));
    test::send_all(pair.first.get(), "four");
    ASSERT_TRUE(until([&] { return over; }));
    EXPECT_EQ(sum, 9U);
    EXPECT_EQ(loop().counters().leases_out, 0U);
}

}  // namespace
}  // namespace eddy::test::spawned_io_test
