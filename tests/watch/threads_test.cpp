// SPDX-License-Identifier: Apache-2.0
#include "support/random.hpp"
#include "watch/test_watch.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace eddy::test::threads_test {
namespace {

class WatchThreads : public EngineTest {};
EDDY_ON_EVERY_ENGINE(WatchThreads);

TEST_P(WatchThreads, RemovalByAnotherWhileTheLoopRunsIsTheLastWord) {
    for (int round = 0; round != 50; ++round) {
        fd_pair pipe = make_pipe();
        auto w = std::make_unique<test_watch>(loop(), std::move(pipe.first), interest::readable,
                                              [&](test_watch&) { return reaction::again; });
        write_all(pipe.second.get(), "x");
        std::thread other([&] {
            w->disarm();
            w->arm();
            w->set_priority(5);
            w->remove();
            w->arm();
        });
        ASSERT_TRUE(until([&] { return w->removals == 1; }));
        other.join();
        settle();
        EXPECT_EQ(w->removals, 1);
    }
}

TEST_P(WatchThreads, PostedCommandsTakeEffectInTheirOrder) {
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, take_all, {.armed = false});
    std::thread([&] {
        w.arm();
        w.disarm();
    }).join();
    write_all(pipe.second.get(), "x");
    settle();
    EXPECT_EQ(w.calls, 0);
    std::thread([&] {
        w.disarm();
        w.set_interest(interest::priority);
        w.set_interest(interest::readable);
        w.set_priority(7);
        w.arm();
    }).join();
    ASSERT_TRUE(until([&] { return w.calls == 1; }));
    EXPECT_EQ(w.priority(), 7);
}

/// The commands of other threads travel in one word, which the loop takes while more are merged
/// into it. A lost arm() would leave the watch silent for ever.
TEST_P(WatchThreads, ManyCommandOneWhileItIsCalled) {
    const random_numbers random;
    fd_pair pipe = make_pipe();
    test_watch w(loop(), pipe.first.get(), interest::readable, take_all);
    std::atomic<int> running{3};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t != 3; ++t) {
        threads.emplace_back([&, t] {
            auto numbers = random.for_thread(t);
            for (int i = 0; i != 2000; ++i) {
                switch (numbers() % 5) {
                    case 0:
                        w.disarm();
                        break;
                    case 1:
                        w.set_priority(static_cast<priority_level>(numbers() % 64));
                        break;
                    case 2:
                        w.set_interest(numbers() % 2 == 0
                                           ? interest::readable
                                           : interest::readable | interest::peer_closed);
                        break;
                    case 3:
                        static_cast<void>(!::write(pipe.second.get(), "x", 1));
                        break;
                    default:
                        w.arm();
                }
            }
            w.arm();
            running.fetch_sub(1);
        });
    }
    ASSERT_TRUE(until_driven([&] { return running.load() == 0; }, 30s));
    for (auto& t : threads) {
        t.join();
    }
    const int before = w.calls;
    w.arm();
    write_all(pipe.second.get(), "x");
    ASSERT_TRUE(until([&] { return w.calls > before; }));
}

TEST_P(WatchThreads, HandlesMayBeDroppedByOthers) {
    auto token = std::make_shared<int>(0);
    std::vector<fd_pair> pipes;
    std::vector<watch_handle> handles;
    for (int i = 0; i != 20; ++i) {
        pipes.push_back(make_pipe());
        handles.push_back(loop().on_readable(std::move(pipes.back().first),
                                             [token](auto&) { return reaction::again; }));
        write_all(pipes.back().second.get(), "x");
    }
    std::thread other([&] { handles.clear(); });
    ASSERT_TRUE(until_driven([&] { return token.use_count() == 1; }));
    other.join();
}

}  // namespace
}  // namespace eddy::test::threads_test
