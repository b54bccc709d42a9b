// SPDX-License-Identifier: Apache-2.0
#include "os/signal_fixture.hpp"
#include "support/in_child.hpp"

#include <eddy/os/block_signals.hpp>

#include <atomic>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/// What the kernel does with signals, and what becomes of it here.
namespace eddy::test::signal_facts_test {
namespace {

class SignalFacts : public SignalTest {};
EDDY_ON_EVERY_ENGINE(SignalFacts);

TEST_P(SignalFacts, OneSentToAnotherThreadIsNotSeenAndOneToTheLoopsThreadIs) {
    signal_source source(loop(), {SIGUSR1});
    signal_recorder r;
    wait(source, r, SIGUSR1);
    settle();
    std::binary_semaphore sent(0);
    std::binary_semaphore over(0);
    std::thread other([&] {
        send_to_this_thread(SIGUSR1);
        sent.release();
        over.acquire();
        EXPECT_TRUE(is_pending(SIGUSR1)) << "the loop has taken it";
    });
    sent.acquire();
    settle();
    EXPECT_FALSE(r.ended());
    over.release();
    other.join();
    send_to_this_thread(SIGUSR1);
    ASSERT_TRUE(ends(r));
    EXPECT_EQ(r.signals().at(0).code, SI_TKILL);
}

TEST_P(SignalFacts, OneThatCameWhileNobodyWaitedIsFoundOnArming) {
    signal_source source(loop(), {SIGUSR1});
    settle();
    send_signal(SIGUSR1);
    EXPECT_LT(turns_in(10ms), 20U);  // an edge that is told once is gone after this
    signal_recorder r;
    wait(source, r, SIGUSR1);
    ASSERT_TRUE(ends(r));
}

/// The epoll fd that this process has made, of which there must be one.
int epoll_fd() {
    int found = -1;
    for (int fd = 0; fd != 256; ++fd) {
        char target[64] = {};
        const std::string link = "/proc/self/fd/" + std::to_string(fd);
        if (::readlink(link.c_str(), target, sizeof target - 1) > 0 &&
            std::string(target) == "anon_inode:[eventpoll]") {
            EXPECT_EQ(found, -1);
            found = fd;
        }
    }
    return found;
}

/// Only an epoll fd can be polled by another thread.
class SignalFactsOfEpoll : public SignalTest {};
INSTANTIATE_TEST_SUITE_P(Engine, SignalFactsOfEpoll, ::testing::Values(engine_kind::epoll),
                         engine_name);

TEST_P(SignalFactsOfEpoll, ReadinessThatAWrongThreadsPollConsumedIsFoundOnArming) {
    signal_source source(loop(), {SIGUSR1});
    settle();
    send_to_this_thread(SIGUSR1);
    std::thread([] {
        epoll_event event{};
        EXPECT_EQ(::epoll_wait(epoll_fd(), &event, 1, 0), 0) << "it is judged for this thread";
    }).join();
    EXPECT_LT(turns_in(10ms), 20U);
    signal_recorder r;
    wait(source, r, SIGUSR1);
    ASSERT_TRUE(ends(r));
}

TEST_P(SignalFacts, AThreadThatDoesNotBlockItGetsItInstead) {
    // What block_signals() in main() is for: nothing here can prevent it.
    const int result = in_child([&] {
        static std::atomic<int> handled;
        struct sigaction action{};
        action.sa_handler = [](int) { handled.fetch_add(1); };
        ::sigaction(SIGUSR1, &action, nullptr);
        eddy::loop home({.engine = GetParam()});
        signal_source source(home, {SIGUSR1});
        signal_recorder r;
        EXPECT_EQ(source.wait(r.wait, SIGUSR1), std::error_code());
        home.run_for(1ms);
        std::binary_semaphore ready(0);
        std::atomic<bool> over{false};
        std::thread unblocked([&] {
            const sigset_t mine = signal_set{SIGUSR1}.native();
            ::pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
            ready.release();
            while (!over) {
                std::this_thread::yield();
            }
        });
        ready.acquire();
        send_signal(SIGUSR1);
        const time_point limit = clock::now() + patience;
        while (handled == 0 && clock::now() < limit) {
            std::this_thread::yield();  // the loop could still win if it ran
        }
        home.run_for(5ms);
        over = true;
        unblocked.join();
        EXPECT_EQ(handled, 1);
        EXPECT_FALSE(r.ended());
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST_P(SignalFacts, TwoLoopsWithASignalEachGetTheirOwn) {
    signal_source mine(loop(), {SIGUSR1});
    signal_recorder here;
    wait(mine, here, SIGUSR1);
    std::atomic<bool> got{false};
    std::atomic<bool> waits{false};
    std::thread second([&] {
        eddy::loop other({.engine = GetParam()});
        signal_source its(other, {SIGUSR2});
        signal_recorder there([&](signal_recorder&) {
            got = true;
            other.stop();
        });
        EXPECT_EQ(its.wait(there.wait, SIGUSR2), std::error_code());
        other.post([&] { waits = true; });
        other.run_for(patience);
        EXPECT_EQ(there.completions(), 1U);
    });
    ASSERT_TRUE(until_driven([&] { return waits.load(); }));
    send_signal(SIGUSR2);
    second.join();
    EXPECT_TRUE(got);
    EXPECT_FALSE(here.ended());
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(here));
}

TEST_P(SignalFacts, UnreadSignalsStayInTheKernel) {
    signal_source source(loop(), {rt});
    constexpr int count = 100;
    for (int i = 0; i != count; ++i) {
        ASSERT_TRUE(queue_signal(rt, i));
    }
    for (int i = 0; i != 3; ++i) {
        signal_recorder r;
        wait(source, r, rt);
        ASSERT_TRUE(ends(r));
        EXPECT_EQ(r.signals().at(0).int_value(), i);
    }
    settle();
    source.detach();
    const sigset_t set = signal_set{rt}.native();
    const timespec at_once{};
    siginfo_t info{};
    for (int i = 3; i != count; ++i) {
        ASSERT_EQ(::sigtimedwait(&set, &info, &at_once), rt);
        ASSERT_EQ(info.si_value.sival_int, i);
    }
}

TEST_P(SignalFacts, SigchldCoalescesSoThatEveryChildMustBeLookedFor) {
    const blocked_signals chld(SIGCHLD);
    signal_source source(loop(), {SIGCHLD});
    constexpr int children = 10;
    for (int i = 0; i != children; ++i) {
        if (::fork() == 0) {
            ::_exit(i);
        }
    }
    // All of them have ended before the first look.
    for (int i = 0; i != children; ++i) {
        siginfo_t info{};
        ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED), 0);
    }
    signal_recorder again([&](signal_recorder& self) {
        EXPECT_EQ(source.wait(self.wait, SIGCHLD), std::error_code());
    });
    wait(source, again, SIGCHLD);
    ASSERT_TRUE(until([&] { return again.ended(); }));
    settle();
    EXPECT_EQ(again.signals().size(), 1U);
    EXPECT_EQ(again.signals()[0].code, CLD_EXITED);
    EXPECT_GE(again.signals()[0].status, 0);
    EXPECT_LT(again.signals()[0].status, children);
    again.wait.cancel();
}

TEST_P(SignalFacts, AfterForkTheChildsLoopGetsTheChildsSignals) {
    signal_source source(loop(), {SIGUSR1, SIGUSR2});
    signal_recorder pending;
    wait(source, pending, SIGUSR1);
    settle();
    const int result = in_child([&] {
        loop().after_fork_in_child();
        loop().run_for(10ms);
        EXPECT_TRUE(ended_canceled(pending));
        EXPECT_TRUE(pending.wait.loop_ends());
        signal_recorder mine;
        EXPECT_EQ(source.wait(mine.wait, SIGUSR2), std::error_code());
        send_signal(SIGUSR2);
        EXPECT_TRUE(until([&] { return mine.ended(); }));
        EXPECT_EQ(mine.signals().at(0).pid, ::getpid());
        return 0;
    });
    EXPECT_EQ(result, 0);
    settle();
    EXPECT_FALSE(pending.ended()) << "the child's signal or its rebuilding came through";
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(pending));
}

TEST_P(SignalFacts, AForkedChildMayJustDestroyEverything) {
    auto source = std::make_unique<signal_source>(loop(), signal_set{SIGUSR1, SIGUSR2});
    signal_recorder armed;
    signal_recorder fresh;
    wait(*source, armed, SIGUSR1);
    settle();
    wait(*source, fresh, SIGUSR2);
    const int result = in_child([&] {
        source.reset();
        end_loop();
        EXPECT_FALSE(armed.ended() || fresh.ended());
        return 0;
    });
    EXPECT_EQ(result, 0);
    send_signal(SIGUSR1);
    ASSERT_TRUE(ends(armed));
    fresh.wait.cancel();
}

TEST(BlockSignals, KeepsTheMaskFromBeforeTheFirstCallForChildren) {
    const int result = in_child([] {
        EXPECT_FALSE(is_blocked(SIGUSR1) || is_blocked(SIGUSR2));
        EXPECT_EQ(original_mask(), block_signals({}));  // asks, and keeps
        const signal_set before = block_signals({SIGUSR1});
        EXPECT_FALSE(before.contains(SIGUSR1));
        EXPECT_TRUE(is_blocked(SIGUSR1));
        const signal_set between = block_signals({SIGUSR2});
        EXPECT_TRUE(between.contains(SIGUSR1));
        EXPECT_EQ(original_mask(), before);
        std::thread([&] {
            EXPECT_TRUE(is_blocked(SIGUSR1) && is_blocked(SIGUSR2));
            EXPECT_EQ(original_mask(), before);
        }).join();
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST(BlockSignals, AGroupsStartKeepsTheMaskToo) {
    const int result = in_child([] {
        loop_group group({.size = 2});
        group.start(signal_set{SIGUSR1});
        EXPECT_TRUE(is_blocked(SIGUSR1));
        EXPECT_FALSE(original_mask().contains(SIGUSR1));
        std::atomic<int> blocked{0};
        for (std::size_t i = 0; i != 2; ++i) {
            group.at(i).post([&] { blocked += is_blocked(SIGUSR1) ? 1 : 0; });
        }
        group.stop();
        group.join();
        EXPECT_EQ(blocked, 2);
        return 0;
    });
    EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace eddy::test::signal_facts_test
