// SPDX-License-Identifier: Apache-2.0
// What tasks get of an `incoming`: those that only the end of their loop stops wait with less.
#include "async/playing_tasks.hpp"

#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/acceptor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace eddy::test::spawned_incoming_test {
namespace {

class SpawnedIncoming : public PlayingTasks {};
EDDY_ON_EVERY_ENGINE(SpawnedIncoming);

task<> echo(stream peer, bool& over) {
    incoming<lease> data(peer);
    while (const lease received = co_await data.next()) {
        co_await peer.write(received.data());
    }
    over = true;
}

std::string text_of(const lease& some) {
    return {reinterpret_cast<const char*>(some.data().data()), some.size()};
}

TEST_P(SpawnedIncoming, GoesOnWithWhatComesUntilTheEnd) {
    for (const pair_maker make : {&tcp_pair, &unix_stream_pair}) {
        fd_pair pair = make();
        bool over = false;
        spawn(loop(), echo(make_stream(std::move(pair.second)), over));
        settle();
        for (const char* text : {"one", "two", "six"}) {
            test::send_all(pair.first.get(), text);
            ASSERT_TRUE(until([&] { return bytes_waiting(pair.first.get()) == 3; }));
            EXPECT_EQ(recv_exactly(pair.first.get(), 3), text);
        }
        pair.first.reset();
        EXPECT_TRUE(until([&] { return over; }));
        EXPECT_EQ(loop().counters().leases_out, 0U);
    }
}

TEST_P(SpawnedIncoming, GetsWhatIsStoredWithoutWaiting) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    incoming<lease> data(peer, 8);
    std::string got;
    const auto take = [&](int count) -> task<> {
        for (int i = 0; i != count; ++i) {
            got += text_of(co_await data.next());
        }
    };
    spawn(loop(), take(1));
    for (std::size_t i = 0; i != 3; ++i) {
        settle();
        test::send_all(pair.first.get(), std::string(1, static_cast<char>('a' + i)));
        ASSERT_TRUE(until([&] { return got.size() == 1 && data.stored() == i; }));
    }
    EXPECT_EQ(got, "a");
    spawn(loop(), take(2));
    loop().poll();
    EXPECT_EQ(got, "abc");
    EXPECT_EQ(data.stored(), 0U);
}

TEST_P(SpawnedIncoming, ThrowsWhenTheSocketIsClosed) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    std::error_code waited;
    std::error_code at_once;
    bool over = false;
    const auto body = [&]() -> task<> {
        incoming<lease> data(peer);
        try {
            static_cast<void>(co_await data.next());
        } catch (const std::system_error& error) {
            waited = error.code();
        }
        incoming<lease> nothing{stream()};
        try {
            static_cast<void>(co_await nothing.next());
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

TEST_P(SpawnedIncoming, ThrowsWhenItIsDestroyedByOthers) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    std::optional<incoming<lease>> data(std::in_place, peer);
    std::error_code seen;
    const auto body = [&]() -> task<> {
        try {
            static_cast<void>(co_await data->next());
        } catch (const std::system_error& error) {
            seen = error.code();
        }
    };
    spawn(loop(), body());
    settle();
    loop().post([&] { data.reset(); });
    ASSERT_TRUE(until([&] { return bool(seen); }));
    EXPECT_EQ(seen, std::errc::operation_canceled);
}

TEST_P(SpawnedIncoming, MayBeDestroyedByWhoWaited) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    auto data = std::make_unique<incoming<lease>>(peer);
    std::string got;
    const auto body = [&]() -> task<> {
        const lease some = co_await data->next();
        data.reset();
        got = text_of(some);
    };
    spawn(loop(), body());
    settle();
    test::send_all(pair.first.get(), "last");
    ASSERT_TRUE(until([&] { return !got.empty(); }));
    EXPECT_EQ(got, "last");
    settle();
    EXPECT_EQ(loop().counters().leases_out, 0U);
}

TEST_P(SpawnedIncoming, OfAChildIsStoppedByADrain) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    int left = 0;
    const auto child = [&]() -> task<> {
        incoming<lease> data(peer);
        const at_exit exit([&] { ++left; });
        static_cast<void>(co_await data.next());
        ADD_FAILURE() << "it must not go on";
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

/// Full and told to pause: whoever waits then waits for an operation that is being cancelled.
TEST_P(SpawnedIncoming, ThatPausesIsStoppedByADrainToo) {
    make_loop({.lease_size = 64, .lease_count = 16, .lease_max = 16});
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    incoming<lease> data(peer, 1);
    int left = 0;
    int got = 0;
    const auto body = [&]() -> task<> {
        const at_exit exit([&] { ++left; });
        for (;;) {
            static_cast<void>(co_await data.next());
            ++got;
        }
    };
    spawn(loop(), body());
    settle();
    test::send_all(pair.first.get(), std::string(640, 'x'));
    loop().post([&] { loop().stop(); });
    loop().run(run_mode::drained);
    EXPECT_EQ(left, 1);
}

TEST_P(SpawnedIncoming, EndsWhenItsLoopIsDestroyed) {
    int left = 0;
    {
        eddy::loop other({.engine = GetParam()});
        fd_pair pair = unix_stream_pair();
        const auto waits = [&](stream peer) -> task<> {
            const at_exit exit([&] { ++left; });
            incoming<lease> data(peer);
            static_cast<void>(co_await data.next());
            ADD_FAILURE() << "it must not go on";
        };
        spawn(other, waits(stream(other, std::move(pair.first))));
        spawn(other, waits(stream(other, std::move(pair.second))));
        other.poll();
        EXPECT_EQ(left, 0);
    }
    EXPECT_EQ(left, 2);
}

TEST_P(SpawnedIncoming, MayBeThatOfAnotherLoop) {
    fd_pair pair = unix_stream_pair();
    eddy::loop other({.engine = GetParam()});
    stream peer(other, std::move(pair.second));
    std::optional<incoming<lease>> data(std::in_place, peer);
    std::size_t count = 0;
    const auto body = [&]() -> task<> {
        const lease received = co_await data->next();
        EXPECT_EQ(eddy::loop::current(), &loop());
        count = received.data().size();
    };
    spawn(loop(), body());
    settle();
    test::send_all(pair.first.get(), "there");
    ASSERT_TRUE(until_driven([&] {
        other.poll();
        return count != 0;
    }));
    EXPECT_EQ(count, 5U);
    data.reset();
    other.poll();
}

TEST_P(SpawnedIncoming, CanBeStoppedWhereOthersCanAsk) {
    fd_pair pair = unix_stream_pair();
    stream peer = make_stream(std::move(pair.second));
    incoming<lease> data(peer);
    std::string got;
    bool too_late = false;
    const auto child = [&]() -> task<> { got = text_of(co_await data.next()); };
    const auto parent = [&]() -> task<> {
        try {
            co_await timeout(child(), std::chrono::milliseconds(1));
        } catch (const std::system_error&) {
            too_late = true;
        }
        co_await child();
    };
    spawn(loop(), parent());
    ASSERT_TRUE(until([&] { return too_late; }));
    test::send_all(pair.first.get(), "kept");
    ASSERT_TRUE(until([&] { return !got.empty(); }));
    EXPECT_EQ(got, "kept");
}

TEST_P(SpawnedIncoming, BringsConnectionsToo) {
    tcp::acceptor acceptor(loop(), address::loopback_v4(0));
    address where;
    ASSERT_FALSE(acceptor.local_address(where));
    incoming<tcp::socket> connections(acceptor);
    std::string got;
    const auto server = [&]() -> task<> {
        for (int i = 0; i != 3; ++i) {
            const tcp::socket peer = co_await connections.next();
            const lease some = co_await peer.receive();
            got += text_of(some);
        }
    };
    const auto client = [&]() -> task<> {
        for (const char* text : {"a", "b", "c"}) {
            const tcp::socket peer = co_await tcp::connect(loop(), where);
            co_await peer.write(bytes(text));
        }
    };
    spawn(loop(), server());
    spawn(loop(), client());
    ASSERT_TRUE(until([&] { return got.size() == 3; }));
    EXPECT_EQ(got, "abc");
}

TEST_P(SpawnedIncoming, AllocatesNothingInSteadyState) {
    spawned_game<incoming<lease>>(10);
    EXPECT_EQ(spawned_game<incoming<lease>>(10), spawned_game<incoming<lease>>(1000));
}

TEST_P(SpawnedIncoming, AllocatesNothingInSteadyStateInANurseryEither) {
    nursed_game<incoming<lease>>(10);
    EXPECT_EQ(nursed_game<incoming<lease>>(10), nursed_game<incoming<lease>>(1000));
}

}  // namespace
}  // namespace eddy::test::spawned_incoming_test
