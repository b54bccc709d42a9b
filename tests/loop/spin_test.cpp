// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "kernel/event.hpp"
#include "kernel/thread.hpp"
#include "loop/loop_fixture.hpp"

#include <array>
#include <thread>
#include <utility>

#include <unistd.h>

namespace eddy::test::spin_test {
namespace {

class LoopSpin : public EngineTest {
protected:
    /// A loop that spins longer than any test takes, at its first wait.
    void make_tireless() { make_loop({.spin = patience * 10}); }

    std::uint64_t spins() {
        const loop_counters now = loop().counters();
        return now.spins_paid + now.spins_missed;
    }
};
EDDY_ON_EVERY_ENGINE(LoopSpin);

TEST_P(LoopSpin, IsOffUnlessAskedFor) {
    loop().run_for(1ms);
    EXPECT_EQ(spins(), 0U);
}

TEST_P(LoopSpin, IsSeenAsAwakeByWhoeverPosts) {
    make_tireless();
    std::uint64_t written = 99;
    job work([&] { loop().stop(); });
    std::thread other([&] {
        const auto before = kernel::calls_made();
        loop().post(work);
        written = kernel::calls_made() - before;
    });
    loop().run();
    other.join();
    EXPECT_EQ(work.runs, 1);
    EXPECT_EQ(written, 0U);
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopSpin, IsEndedByAStopOfAnotherThread) {
    make_tireless();
    std::thread other([&] { loop().stop(); });
    loop().run();
    other.join();
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopSpin, IsEndedByATimer) {
    make_tireless();
    alarm soon(loop(), [&] { loop().stop(); });
    const time_point when = clock::now() + 2ms;
    loop().post_at(when, soon);
    loop().run();
    EXPECT_GE(clock::now(), when);
    EXPECT_EQ(soon.runs, 1);
    EXPECT_EQ(loop().counters().waits, 0U);
    EXPECT_EQ(loop().counters().spins_paid, 0U) << "the time of a timer is known before";
}

TEST_P(LoopSpin, IsEndedByTheEndOfTheRun) {
    make_tireless();
    loop().run_for(2ms);
    EXPECT_EQ(loop().counters().waits, 0U);
}

TEST_P(LoopSpin, PaysWhenTheKernelTellsOfSomething) {
    make_tireless();
    unique_fd made;
    ASSERT_FALSE(kernel::make_steady_timerfd(made));
    const int fd = made.get();
    descriptor clock_fd = attach(std::move(made));
    const time_point limit = clock::now() + patience;
    // Not each time: a thread that is pushed off its core finds the event at its first look.
    while (loop().counters().spins_paid == 0 && clock::now() < limit) {
        recorder expiry;
        start(expiry, wait(clock_fd, interest::readable));
        ASSERT_FALSE(kernel::set_steady_timerfd(fd, clock::now() + 500us));
        loop().run(run_mode::empty);
        ASSERT_TRUE(expiry.ended());
        std::uint64_t count = 0;
        ASSERT_EQ(::read(fd, &count, sizeof count), ssize_t{sizeof count});
    }
    EXPECT_NE(loop().counters().spins_paid, 0U);
}

TEST_P(LoopSpin, EndsInAWaitWhenNothingComes) {
    make_loop({.spin = 10us});
    const time_point limit = clock::now() + patience;
    while ((loop().counters().waits == 0 || spins() == 0) && clock::now() < limit) {
        loop().run_for(1ms);
    }
    EXPECT_NE(loop().counters().waits, 0U);
    EXPECT_EQ(loop().counters().spins_missed, 1U);
}

TEST_P(LoopSpin, StopsByItselfWhenItDoesNotPay) {
    make_loop({.spin = 10us});
    alarm next(loop());
    for (int i = 0; i != 300; ++i) {
        loop().post_after(100us, next);
        loop().run_one();
    }
    EXPECT_EQ(loop().counters().spins_paid, 0U);
    EXPECT_GE(loop().counters().spins_missed, 1U);
    EXPECT_LE(loop().counters().spins_missed, 2 + loop().counters().turns / 64);
}

TEST_P(LoopSpin, IsNoPartOfAPoll) {
    make_tireless();
    alarm far(loop());
    loop().post_after(1h, far);
    EXPECT_EQ(loop().poll(), 0U);
    EXPECT_EQ(loop().poll(), 0U);
    EXPECT_EQ(spins(), 0U);
    loop().disarm(far);
}

TEST_P(LoopSpin, LeavesTheCoreToAPeerWhoNeedsIt) {
    // Whatever the peer sends it sends while the loop does not have the core: no spin can pay,
    // also one that finds something after the peer has pushed it away.
    constexpr int requests = 2000;
    const unsigned core = kernel::current_core();
    make_loop({.spin = 200us});
    fd_pair ends = unix_stream_pair();
    const int fd = ends.first.get();
    std::thread served([&] {
        ASSERT_FALSE(kernel::pin_to_core(core));
        descriptor end = attach(std::move(ends.first));
        std::array<std::byte, 1> byte{};
        recorder request([&](recorder& r) {
            if (r.result() && r.count() == 1 && ::write(fd, byte.data(), 1) == 1) {
                start(r, recv(end, byte));
            }
        });
        start(request, recv(end, byte));
        loop().run(run_mode::empty);
    });
    int replies = 0;
    std::thread peer([&] {
        ASSERT_FALSE(kernel::pin_to_core(core));
        char byte = 'e';
        const int their_fd = ends.second.get();
        for (int i = 0; i != requests; ++i) {
            const bool answered =
                ::write(their_fd, &byte, 1) == 1 && ::read(their_fd, &byte, 1) == 1;
            replies += answered ? 1 : 0;
        }
        ends.second.reset();
    });
    peer.join();
    served.join();
    EXPECT_EQ(replies, requests);
    EXPECT_EQ(loop().counters().spins_paid, 0U);
    EXPECT_LE(loop().counters().spins_missed, 2 + loop().counters().turns / 64);
}

class LoopSpinEmbedded : public LoopSpin {};
INSTANTIATE_TEST_SUITE_P(Engine, LoopSpinEmbedded,
                         ::testing::Values(engine_kind::epoll, engine_kind::io_uring), engine_name);

TEST_P(LoopSpinEmbedded, NeverSpins) {
    make_tireless();
    static_cast<void>(loop().native_handle());
    loop().run_for(1ms);
    EXPECT_EQ(spins(), 0U);
}

}  // namespace
}  // namespace eddy::test::spin_test
