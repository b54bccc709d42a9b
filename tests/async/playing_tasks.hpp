// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async/task_fixture.hpp"
#include "loop/allocations.hpp"

#include <eddy/async/nursery.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/io/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace eddy::test {

/// Two tasks pass a byte forth and back, `hops` times. Balls: made of the stream, has what comes as
/// senders of a lease, next().
template <class Balls>
task<> play(stream ball, int hops, bool serves, int& over) {
    Balls balls(ball);
    std::byte one{};
    for (int i = 0; i < hops; ++i) {
        if (serves || i != 0) {
            co_await ball.write({&one, 1});
        }
        const lease back = co_await balls.next();
        EXPECT_EQ(back.data().size(), 1U);
    }
    ++over;
    if (!serves) {
        co_await ball.write({&one, 1});
    }
}

class PlayingTasks : public TaskTest {
protected:
    stream make_stream(unique_fd fd) { return stream(loop(), std::move(fd)); }

    /// How often a game of spawned tasks allocates.
    template <class Balls>
    std::uint64_t spawned_game(int hops) {
        fd_pair pair = unix_stream_pair();
        int over = 0;
        const std::uint64_t before = allocations();
        spawn(loop(), play<Balls>(make_stream(std::move(pair.first)), hops, true, over));
        spawn(loop(), play<Balls>(make_stream(std::move(pair.second)), hops, false, over));
        EXPECT_TRUE(until([&] { return over == 2; }));
        settle();
        return allocations() - before;
    }
    template <class Balls>
    std::uint64_t nursed_game(int hops) {
        fd_pair pair = unix_stream_pair();
        int over = 0;
        const std::uint64_t before = allocations();
        const auto both = [&](nursery& players) -> task<> {
            players.start(play<Balls>(make_stream(std::move(pair.first)), hops, true, over));
            players.start(play<Balls>(make_stream(std::move(pair.second)), hops, false, over));
            co_await players.join();
        };
        EXPECT_TRUE(loop().run(with_nursery(both)));
        EXPECT_EQ(over, 2);
        settle();
        return allocations() - before;
    }
};

}  // namespace eddy::test
