// SPDX-License-Identifier: Apache-2.0
#include "loop/work.hpp"
#include "support/engine_fixture.hpp"

#include <eddy/watch/loop_watch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace eddy::test::loop_watch_test {
namespace {

/// loop() is the outer one, of each engine; the inner one of each that can be embedded.
class LoopWatch : public EngineTest {
protected:
    /// The best one is io_uring where there is one.
    static std::vector<engine_kind> inner_kinds() {
        return {engine_kind::epoll, eddy::loop({.engine = engine_kind::best}).engine()};
    }
};
EDDY_ON_EVERY_ENGINE(LoopWatch);

TEST_P(LoopWatch, WorkOfBothLoopsRunsInOneThread) {
    for (const engine_kind kind : inner_kinds()) {
        eddy::loop inner({.engine = kind});
        loop_watch child(loop(), inner);
        alarm outer_ring(loop());
        alarm inner_ring(inner, [&] { EXPECT_EQ(eddy::loop::current(), &inner); });
        loop().post_after(1ms, outer_ring);
        inner.post_after(2ms, inner_ring);
        EXPECT_TRUE(until([&] { return outer_ring.runs == 1 && inner_ring.runs == 1; }));
        EXPECT_FALSE(child.error());
    }
}

TEST_P(LoopWatch, TheTwoLoopsPassABallThousandsOfTimes) {
    constexpr int throws = 5000;
    for (const engine_kind kind : inner_kinds()) {
        eddy::loop inner({.engine = kind});
        const loop_watch child(loop(), inner);
        std::optional<job> here;
        std::optional<job> there;
        here.emplace([&] { inner.post(*there); });
        there.emplace([&] {
            if (there->runs != throws) {
                loop().post(*here);
            }
        });
        loop().post(*here);
        EXPECT_TRUE(until([&] { return there->runs == throws; }));
        EXPECT_EQ(here->runs, throws);
    }
}

TEST_P(LoopWatch, BytesBetweenTheTwoLoopsAllArrive) {
    constexpr std::size_t size = 300'000;
    for (const engine_kind kind : inner_kinds()) {
        eddy::loop inner({.engine = kind});
        const loop_watch child(loop(), inner);
        auto [one, two] = unix_stream_pair();
        const descriptor from = attach(std::move(one));
        const descriptor to(inner, std::move(two));
        std::string sent(size, 'x');
        std::string got(size, '\0');
        recorder sending;
        recorder receiving;
        start(sending, eddy::send_all(from, bytes(std::string_view(sent))));
        receiving.start(inner, recv_all(to, bytes(got)));
        EXPECT_TRUE(until([&] { return sending.ended() && receiving.ended(); }));
        EXPECT_EQ(receiving.count(), size);
        EXPECT_EQ(got, sent);
    }
}

TEST_P(LoopWatch, OtherThreadsReachTheInnerLoopWhileTheOuterSleeps) {
    constexpr int posts = 300;  // each takes two switches of threads
    for (const engine_kind kind : inner_kinds()) {
        eddy::loop inner({.engine = kind});
        const loop_watch child(loop(), inner);
        std::atomic<int> ran = 0;
        job one([&] {
            ++ran;
            ran.notify_one();
        });
        std::thread other([&] {
            for (int i = 0; i != posts; ++i) {
                inner.post(one);
                ran.wait(i);
            }
        });
        EXPECT_TRUE(until([&] { return ran == posts; }));
        other.join();
    }
}

TEST_P(LoopWatch, LoopsNestThreeDeep) {
    for (const engine_kind middle_kind : inner_kinds()) {
        for (const engine_kind inner_kind : inner_kinds()) {
            eddy::loop middle({.engine = middle_kind});
            eddy::loop inner({.engine = inner_kind});
            const loop_watch child(loop(), middle);
            const loop_watch grandchild(middle, inner);
            alarm ring(inner);
            job posted;
            for (int i = 1; i != 50; ++i) {
                inner.post_after(100us, ring);
                std::thread([&] { inner.post(posted); }).join();
                ASSERT_TRUE(until([&] { return ring.runs == i && posted.runs == i; }));
            }
        }
    }
}

TEST_P(LoopWatch, AnInnerLoopThatIsAlwaysBusyDoesNotStarveTheOuter) {
    for (const engine_kind kind : inner_kinds()) {
        eddy::loop inner({.engine = kind, .batch_max = 4});
        std::optional<job> busy;
        bool over = false;
        busy.emplace([&] {
            if (!over) {
                inner.post(*busy);
            }
        });
        const loop_watch child(loop(), inner);
        inner.post(*busy);
        alarm ring(loop());
        loop().post_after(2ms, ring);
        EXPECT_TRUE(until([&] { return ring.runs == 1; }));
        over = true;
        EXPECT_TRUE(until([&] { return !busy->posted(); }));
    }
}

TEST_P(LoopWatch, ADisarmedOneRunsNothingAndLosesNothing) {
    eddy::loop inner({.engine = engine_kind::epoll});
    loop_watch child(loop(), inner);
    child.watch().disarm();
    job posted;
    inner.post(posted);
    settle();
    EXPECT_EQ(posted.runs, 0);
    child.watch().arm();
    EXPECT_TRUE(until([&] { return posted.runs == 1; }));
}

TEST_P(LoopWatch, ALoopOfThePollEngineCannotBeAChild) {
    eddy::loop inner({.engine = engine_kind::poll});
    EXPECT_THROW(loop_watch(loop(), inner), std::system_error);
}

}  // namespace
}  // namespace eddy::test::loop_watch_test
