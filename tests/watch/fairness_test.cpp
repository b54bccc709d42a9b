// SPDX-License-Identifier: Apache-2.0
#include "watch/test_watch.hpp"

#include <eddy/loop/detail/bandwidth_share.hpp>

#include <memory>
#include <vector>

namespace eddy::test::fairness_test {
namespace {

class WatchFairness : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WatchFairness);

TEST_P(WatchFairness, LowerNumbersRunFirstAndOneThatIsChangedMeanwhileOvertakes) {
    fd_pair pipes[3] = {make_pipe(), make_pipe(), make_pipe()};
    std::vector<int> order;
    std::unique_ptr<test_watch> watches[3];
    const priority_level priorities[] = {10, 30, 40};
    for (std::size_t i = 0; i != 3; ++i) {
        watches[i] = std::make_unique<test_watch>(
            loop(), pipes[i].first.get(), interest::readable,
            [&, i](test_watch& w) {
                order.push_back(static_cast<int>(i));
                if (i == 0) {
                    watches[2]->set_priority(20);
                }
                return take_all(w);
            },
            watch_options{.priority = priorities[i]});
    }
    settle();
    for (auto& pipe : pipes) {
        write_all(pipe.second.get(), "x");
    }
    ASSERT_TRUE(until([&] { return order.size() == 3; }));
    EXPECT_EQ(order, (std::vector{0, 2, 1}));
}

TEST_P(WatchFairness, EqualOnesTakeTurns) {
    fd_pair pipes[3] = {make_pipe(), make_pipe(), make_pipe()};
    std::vector<std::size_t> order;
    std::unique_ptr<test_watch> watches[3];
    for (std::size_t i = 0; i != 3; ++i) {
        write_all(pipes[i].second.get(), "xxxx");
        watches[i] = std::make_unique<test_watch>(loop(), pipes[i].first.get(), interest::readable,
                                                  [&, i](test_watch& w) {
                                                      order.push_back(i);
                                                      read_one(w.native_handle());
                                                      return reaction::requeue;
                                                  });
    }
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 12});
    ASSERT_EQ(order.size(), 12U);
    for (std::size_t i = 3; i != order.size(); ++i) {
        EXPECT_EQ(order[i], order[i - 3]);
    }
    for (auto& w : watches) {
        w->disarm();
    }
}

TEST_P(WatchFairness, NothingStarvesLongerThanTheLimit) {
    constexpr std::size_t limit = 100;
    make_loop({.starvation_limit = limit});
    fd_pair busy = make_pipe();
    write_all(busy.second.get(), "x");
    std::vector<std::uint64_t> ran(64, 0);
    std::uint64_t dispatches = 0;
    std::uint64_t longest = 0;
    test_watch hog(loop(), busy.first.get(), interest::readable,
                   [&](test_watch&) {
                       ++dispatches;
                       return reaction::requeue;
                   },
                   {.priority = 0});
    std::vector<std::unique_ptr<test_watch>> low;
    std::vector<fd_pair> pipes;
    for (std::size_t i = 1; i < 64; i += 6) {
        pipes.push_back(make_pipe());
        write_all(pipes.back().second.get(), "x");
        low.push_back(std::make_unique<test_watch>(
            loop(), pipes.back().first.get(), interest::readable,
            [&, i](test_watch&) {
                ++dispatches;
                longest = std::max(longest, dispatches - ran[i]);
                ran[i] = dispatches;
                return reaction::requeue;
            },
            watch_options{.priority = static_cast<priority_level>(i)}));
    }
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 20'000});
    for (std::size_t i = 1; i < 64; i += 6) {
        EXPECT_GE(ran[i], 20'000 - limit - 64) << i;
    }
    EXPECT_LE(longest, limit + 12) << "the first of each level had to be looked at once";
    EXPECT_GE(hog.calls, 16'000) << "the rest still goes by priority";
}

/// Also at the beginning, when each of them is still to be armed.
TEST_P(WatchFairness, WithAllLevelsBusyNoneStarvesLongerThanTheLimit) {
    constexpr std::size_t limit = 100;
    constexpr std::size_t calls_max = 20'000;
    make_loop({.starvation_limit = limit});
    std::vector<std::uint64_t> ran(priority_count, 0);
    std::vector<std::uint64_t> longest(priority_count, 0);
    std::uint64_t calls = 0;
    std::vector<fd_pair> pipes;
    std::vector<std::unique_ptr<test_watch>> watches;
    for (std::size_t i = 0; i != priority_count; ++i) {
        pipes.push_back(make_pipe());
        write_all(pipes.back().second.get(), "x");
        watches.push_back(std::make_unique<test_watch>(
            loop(), pipes.back().first.get(), interest::readable,
            [&, i](test_watch&) {
                ++calls;
                longest[i] = std::max(longest[i], calls - ran[i]);
                ran[i] = calls;
                return reaction::requeue;
            },
            watch_options{.priority = static_cast<priority_level>(i)}));
    }
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = calls_max});
    ASSERT_EQ(calls, calls_max);
    for (std::size_t i = 0; i != priority_count; ++i) {
        EXPECT_LE(std::max(longest[i], calls - ran[i]), limit) << "priority " << i;
    }
}

TEST_P(WatchFairness, WithoutALimitHigherPrioritiesStarveLowerOnes) {
    fd_pair busy = make_pipe();
    fd_pair other = make_pipe();
    write_all(busy.second.get(), "x");
    write_all(other.second.get(), "x");
    test_watch hog(loop(), busy.first.get(), interest::readable,
                   [&](test_watch&) { return reaction::requeue; }, {.priority = 0});
    test_watch low(loop(), other.first.get(), interest::readable, take_all, {.priority = 63});
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 5'000});
    EXPECT_EQ(low.calls, 0);
    hog.disarm();
    ASSERT_TRUE(until([&] { return low.calls == 1; }));
}

TEST_P(WatchFairness, WhoWasIdleWhileOthersMovedHundredsOfTerabytesIsTheNext) {
    bandwidth_group group(loop());
    bandwidth_share busy(group, 1);
    bandwidth_share idle(group, 3);
    static std::vector<int> order;
    order.clear();
    turn_wait busy_turn([](turn_wait&) noexcept { order.push_back(1); });
    turn_wait idle_turn([](turn_wait&) noexcept { order.push_back(2); });
    for (std::uint64_t terabytes : {150U, 300U, 600U}) {
        busy.moved(terabytes * 1'000'000'000'000);
        busy.wait(busy_turn);
        settle();
        busy.wait(busy_turn);
        idle.wait(idle_turn);
        settle();
    }
    EXPECT_EQ(order, (std::vector{1, 2, 1, 1, 2, 1, 1, 2, 1}));
}

/// Two endless streams over sockets share their loop as documented, although their calls move
/// different amounts; `./bench share` measures and plots the same.
TEST_P(WatchFairness, WeightsOfThreeToOneShareTheBytes) {
    fd_pair pairs[2] = {unix_stream_pair(), unix_stream_pair()};
    const std::string chunk(4096, 'x');
    bandwidth_group group(loop());
    std::size_t got[2] = {0, 0};
    std::unique_ptr<test_watch> watches[2];
    for (std::size_t i = 0; i != 2; ++i) {
        set_nonblocking(pairs[i].second.get(), true);
        const int peer = pairs[i].second.get();
        watches[i] = std::make_unique<test_watch>(
            loop(), pairs[i].first.get(), interest::readable, [&, i, peer](test_watch& w) {
                char buffer[1000];
                // Pieces of different sizes: it is bytes that are shared, not calls.
                const ssize_t n = ::read(w.native_handle(), buffer, i == 0 ? 300 : 1000);
                EXPECT_GT(n, 0);
                w.moved(static_cast<std::size_t>(n));
                got[i] += static_cast<std::size_t>(n);
                static_cast<void>(!::write(peer, chunk.data(), chunk.size()));
                return reaction::again;
            });
        write_all(peer, chunk);
    }
    group.add(*watches[0], 3);
    group.add(*watches[1], 1);
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 20'000});
    const double share = 100.0 * static_cast<double>(got[0]) / static_cast<double>(got[0] + got[1]);
    EXPECT_NEAR(share, 75.0, 2.0);
    EXPECT_EQ(watches[0]->bytes_moved(), got[0]);
    watches[1]->disarm();  // alone it gets everything
    const std::size_t before = got[1];
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 100});
    EXPECT_EQ(got[1], before);
    watches[1]->arm();
    watches[0]->remove();
    loop().run(run_mode::stopped, {.until = clock::now() + patience, .completions = 100});
    EXPECT_GT(got[1], before);
    EXPECT_EQ(group.size(), 1U);
    watches[0].reset();
    watches[1].reset();
    EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace eddy::test::fairness_test
