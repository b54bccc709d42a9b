// SPDX-License-Identifier: Apache-2.0
#include "os/signal_fixture.hpp"

#include "kernel/call.hpp"

#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include <unistd.h>

namespace eddy::test::signal_wait_test {
namespace {

class SignalWait : public SignalTest {};
EDDY_ON_EVERY_ENGINE(SignalWait);

TEST_P(SignalWait, GetsTheSignalAndWhoSentIt) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    wait(source, r, SIGUSR1);
    settle();
    EXPECT_FALSE(r.ended());
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(r));
    const signal_info info = r.signals().at(0);
    EXPECT_EQ(info.signum, SIGUSR1);
    EXPECT_EQ(info.code, SI_USER);
    EXPECT_EQ(info.pid, ::getpid());
    EXPECT_EQ(info.uid, ::getuid());
    EXPECT_FALSE(r.wait.pending());
    EXPECT_FALSE(is_pending(SIGUSR1));
}

TEST_P(SignalWait, OneThatWasPendingBeforeTheWaitIsDelivered) {
    send_signal(SIGUSR1);
    signal_source source(loop(), {SIGUSR1});
    settle();
    EXPECT_TRUE(is_pending(SIGUSR1)) << "it was read although nobody waits";
    signal_recorder r;
    wait(source, r, SIGUSR1);
    EXPECT_FALSE(r.ended()) << "it completed inside wait()";
    ASSERT_TRUE(ends(r));
}

TEST_P(SignalWait, IsFirstInFirstOutForEachSignal) {
    signal_source source(loop(), {rt, SIGUSR1});
    std::string order;
    signal_recorder a([&](signal_recorder&) { order += 'a'; });
    signal_recorder b([&](signal_recorder&) { order += 'b'; });
    signal_recorder any([&](signal_recorder&) { order += '*'; });
    signal_recorder c([&](signal_recorder&) { order += 'c'; });
    wait(source, a, rt);
    wait(source, b, rt);
    wait(source, any, signal_set{rt, SIGUSR1});
    wait(source, c, rt);
    for (int value = 0; value != 4; ++value) {
        ASSERT_TRUE(queue_signal(rt, value));
    }
    ASSERT_TRUE(ends(c));
    EXPECT_EQ(order, "ab*c");
    EXPECT_EQ(a.signals().at(0).int_value(), 0);
    EXPECT_EQ(b.signals().at(0).int_value(), 1);
    EXPECT_EQ(any.signals().at(0).int_value(), 2);
    EXPECT_EQ(c.signals().at(0).int_value(), 3);
}

TEST_P(SignalWait, StandardSignalsCoalesceAndRealTimeSignalsAreQueued) {
    signal_source source(loop(), {SIGUSR1, rt});
    for (int i = 0; i != 5; ++i) {
        send_signal(SIGUSR1);
        ASSERT_TRUE(queue_signal(rt, i));
    }
    const auto again = [&](signal_recorder& r, int signum) {
        EXPECT_EQ(source.wait(r.wait, signum), std::error_code());
    };
    signal_recorder standard([&](signal_recorder& r) { again(r, SIGUSR1); });
    signal_recorder queued([&](signal_recorder& r) { again(r, rt); });
    wait(source, standard, SIGUSR1);
    wait(source, queued, rt);
    ASSERT_TRUE(until([&] { return queued.signals().size() == 5; }));
    settle();
    EXPECT_EQ(standard.signals().size(), 1U);
    ASSERT_EQ(queued.signals().size(), 5U);
    for (int i = 0; i != 5; ++i) {
        EXPECT_EQ(queued.signals()[static_cast<std::size_t>(i)].int_value(), i);
        EXPECT_EQ(queued.signals()[static_cast<std::size_t>(i)].code, SI_QUEUE);
    }
}

TEST_P(SignalWait, KeepsAllBitsOfAPointer) {
    signal_source source(loop(), {rt});
    signal_recorder r;
    wait(source, r, rt);
    sigval sent{};
    sent.sival_ptr = &r;
    ASSERT_EQ(::sigqueue(::getpid(), rt, sent), 0);
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.signals().at(0).value, reinterpret_cast<std::intptr_t>(&r));
}

TEST_P(SignalWait, ForAnyTakesOneSignalAndLeavesTheOthers) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2, SIGHUP});
    signal_recorder r;
    wait(source, r, signal_set{SIGUSR1, SIGUSR2});
    settle();
    send_signal(SIGHUP);
    settle();
    EXPECT_FALSE(r.ended());
    send_signal(SIGUSR2);
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(r));
    settle();
    EXPECT_EQ(r.completions(), 1U);
    EXPECT_EQ(is_pending(SIGUSR1), r.signals()[0].signum != SIGUSR1);
    EXPECT_EQ(is_pending(SIGUSR2), r.signals()[0].signum != SIGUSR2);
    EXPECT_TRUE(is_pending(SIGHUP));
}

TEST_P(SignalWait, ACancelledOneTakesNothing) {
    signal_source source(loop(), {rt});
    signal_recorder first;
    signal_recorder second;
    wait(source, first, rt);
    wait(source, second, rt);
    settle();
    ASSERT_TRUE(queue_signal(rt, 7));
    first.wait.cancel();
    EXPECT_FALSE(first.wait.pending());
    ASSERT_TRUE(ends(second));
    EXPECT_EQ(second.signals().at(0).int_value(), 7);
    EXPECT_FALSE(first.ended());
}

TEST_P(SignalWait, DestroyingOneThatIsPendingLeavesTheSignalToTheNext) {
    signal_source source(loop(), {SIGUSR1});
    auto gone = std::make_unique<signal_recorder>();
    wait(source, *gone, SIGUSR1);
    settle();
    gone.reset();
    send_signal(SIGUSR1);
    settle();
    EXPECT_TRUE(is_pending(SIGUSR1));
    signal_recorder next;
    wait(source, next, SIGUSR1);
    ASSERT_TRUE(ends(next));
}

TEST_P(SignalWait, CancelledBetweenReadinessAndItsTurnItTakesNothing) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    r.wait.set_priority(40);
    wait(source, r, SIGUSR1);
    settle();
    send_signal(SIGUSR1);
    // Harvested and queued, but something more urgent cancels it first.
    bool cancelled = false;
    loop().post([&] {
        loop().post([&] {
            r.wait.cancel();
            cancelled = true;
        });
    });
    ASSERT_TRUE(until([&] { return cancelled; }));
    settle();
    EXPECT_FALSE(r.ended());
    EXPECT_TRUE(is_pending(SIGUSR1));
}

TEST_P(SignalWait, MayStartItselfAgainAndBeDestroyedInItsCompletion) {
    signal_source source(loop(), {rt});
    std::unique_ptr<signal_recorder> r;
    int seen = 0;
    r = std::make_unique<signal_recorder>([&](signal_recorder& self) {
        if (++seen == 3) {
            r.reset();
        } else {
            EXPECT_EQ(source.wait(self.wait, rt), std::error_code());
        }
    });
    wait(source, *r, rt);
    for (int i = 0; i != 4; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    ASSERT_TRUE(until([&] { return seen == 3; }));
    settle();
    EXPECT_TRUE(is_pending(rt)) << "the fourth was read for nobody";
}

TEST_P(SignalWait, TheMoreUrgentOneGetsTheSignal) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder usual;
    signal_recorder urgent;
    urgent.wait.set_priority(3);
    wait(source, usual, SIGUSR1);
    settle();
    wait(source, urgent, SIGUSR1);
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(urgent));
    EXPECT_FALSE(usual.ended());
}

TEST_P(SignalWait, OneOfLowPriorityStaysInTheKernelDuringMoreUrgentWork) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    r.wait.set_priority(50);
    wait(source, r, SIGUSR1);
    settle();
    send_signal(SIGUSR1);
    int left = 1000;
    std::function<void()> work = [&] {
        EXPECT_FALSE(r.ended());
        EXPECT_TRUE(is_pending(SIGUSR1)) << "it was read with " << left << " to go";
        if (--left != 0) {
            loop().post([&] { work(); });
        }
    };
    loop().post([&] { work(); });
    ASSERT_TRUE(until([&] { return left == 0; }));
    ASSERT_TRUE(ends(r));
}

TEST_P(SignalWait, AnUrgentOneThatGoesAwayLeavesTheSignalToTheLessUrgentOne) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder low;
    signal_recorder urgent;
    low.wait.set_priority(60);
    urgent.wait.set_priority(1);
    send_signal(SIGUSR1);
    std::string order;
    loop().post([&] {
        wait(source, low, SIGUSR1);
        wait(source, urgent, SIGUSR1);
        urgent.wait.cancel();
        loop().post([&] { order += low.ended() ? 's' : 'w'; });
    });
    ASSERT_TRUE(ends(low));
    EXPECT_EQ(order, "w");
    EXPECT_FALSE(urgent.ended());
}

TEST_P(SignalWait, KeepsTheLoopGoingOnlyWhileSomebodyWaits) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    signal_recorder r;
    wait(source, r, signal_set{SIGUSR1, SIGUSR2});
    settle();
    EXPECT_FALSE(loop().empty());
    send_signal(SIGUSR1);
    loop().run(run_mode::empty, {.until = clock::now() + patience});
    EXPECT_TRUE(r.ended());
    EXPECT_TRUE(loop().empty()) << "the wait for the other signal is left";
    wait(source, r, SIGUSR2);
    settle();
    r.wait.cancel();
    loop().run(run_mode::empty, {.until = clock::now() + patience});
    EXPECT_TRUE(loop().empty());
}

TEST_P(SignalWait, InTheBackgroundDoesNotKeepTheLoopGoing) {
    signal_source source(loop(), {SIGUSR1}, {.background = true});
    signal_recorder r;
    wait(source, r, SIGUSR1);
    const time_point limit = clock::now() + patience;
    loop().run(run_mode::empty, {.until = limit});
    EXPECT_LT(clock::now(), limit);
    EXPECT_TRUE(r.wait.pending());
}

TEST_P(SignalWait, EndsWhenTheLoopDrains) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    signal_recorder settled;
    signal_recorder fresh;
    wait(source, settled, signal_set{SIGUSR1, SIGUSR2});
    settle();
    wait(source, fresh, SIGUSR1);
    loop().stop();
    loop().run(run_mode::drained, {.until = clock::now() + patience});
    EXPECT_TRUE(ended_canceled(settled));
    EXPECT_TRUE(ended_canceled(fresh));
    EXPECT_TRUE(settled.wait.loop_ends());
    EXPECT_TRUE(fresh.wait.loop_ends());
}

TEST_P(SignalWait, ASignalThatNobodyWaitsForDoesNotMakeTheLoopSpin) {
    signal_source source(loop(), {SIGUSR1});
    send_signal(SIGUSR1);
    EXPECT_LT(turns_in(50ms), 20U);
    EXPECT_TRUE(is_pending(SIGUSR1));
}

TEST_P(SignalWait, AnErrorOfTheReadEndsTheWait) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    wait(source, r, SIGUSR1);
    kernel::fail(kernel::call::read, EIO);
    ASSERT_TRUE(ends(r));
    kernel::fail_nothing();
    EXPECT_EQ(r.errors().at(0), std::errc::io_error);
}

}  // namespace
}  // namespace eddy::test::signal_wait_test
