// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "loop/loop_fixture.hpp"
#include "support/heard_reports.hpp"
#include "support/in_child.hpp"
#include "support/refused_waits.hpp"
#include "support/threads.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EDDY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EDDY_SANITIZED 1
#endif
#endif
#ifndef EDDY_SANITIZED
#define EDDY_SANITIZED 0
#endif

namespace eddy::test::group_test {
namespace {

class LoopGroup : public LoopTest {
protected:
    loop_group_options of(std::size_t size) const {
        return {.size = size, .loop = {.engine = GetParam()}};
    }
};
EDDY_ON_EVERY_ENGINE(LoopGroup);

TEST_P(LoopGroup, StartStopJoinNeverHangs) {
    loop_group group(of(1));
    for (int i = 0; i != 1000; ++i) {
        group.start();
        group.stop();
        group.join();
    }
}

TEST_P(LoopGroup, ANewGroupStartedStoppedAndJoinedNeverHangs) {
    for (int i = 0; i != 100; ++i) {
        loop_group group(of(2));
        group.start();
        group.stop();
        group.join();
    }
}

TEST_P(LoopGroup, StopBeforeStartEndsTheNextRunOnly) {
    loop_group group(of(2));
    group.stop();
    group.start();
    group.join();
    std::atomic<bool> ran = false;
    group.start();
    group.post([&] {
        ran = true;
        group.stop();
    });
    group.join();
    EXPECT_TRUE(ran);
}

TEST_P(LoopGroup, TheDestructorStopsAndJoins) {
    std::atomic<int> runs = 0;
    {
        loop_group group(of(2));
        group.start();
        for (int i = 0; i != 100; ++i) {
            group.post([&] { ++runs; });
        }
    }
    EXPECT_EQ(runs, 100);
}

TEST_P(LoopGroup, AGroupThatIsNeverStartedDropsItsWork) {
    auto token = std::make_shared<int>(0);
    {
        loop_group group(of(2));
        group.post([token] { ++*token; });
    }
    EXPECT_EQ(*token, 0);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(LoopGroup, EachLoopHasItsThread) {
    constexpr std::size_t size = 3;
    loop_group group(of(size));
    ASSERT_EQ(group.size(), size);
    std::vector<eddy::loop*> current(size);
    std::vector<std::thread::id> threads(size);
    std::latch done(size);
    group.start();
    for (std::size_t i = 0; i != size; ++i) {
        group.at(i).post([&, i] {
            current[i] = eddy::loop::current();
            threads[i] = std::this_thread::get_id();
            done.count_down();
        });
    }
    done.wait();
    for (std::size_t i = 0; i != size; ++i) {
        EXPECT_EQ(current[i], &group.at(i));
    }
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), size);
    EXPECT_EQ(eddy::loop::current(), nullptr);
}

TEST_P(LoopGroup, FromOutsidePostsGoRoundRobin) {
    constexpr std::size_t size = 3;
    loop_group group(of(size));
    std::vector<std::atomic<int>> runs(size);
    std::latch done(30);
    group.start();
    for (int i = 0; i != 30; ++i) {
        group.post([&] {
            for (std::size_t n = 0; n != size; ++n) {
                runs[n] += eddy::loop::current() == &group.at(n) ? 1 : 0;
            }
            done.count_down();
        });
    }
    done.wait();
    for (const auto& count : runs) {
        EXPECT_EQ(count, 10);
    }
}

TEST_P(LoopGroup, FromALoopOfTheGroupPostsStayThere) {
    loop_group group(of(3));
    group.start();
    for (std::size_t i = 0; i != 3; ++i) {
        std::latch done(1);
        group.at(i).post([&, i] {
            group.post([&, i] {
                EXPECT_EQ(eddy::loop::current(), &group.at(i));
                done.count_down();
            });
        });
        done.wait();
    }
}

TEST_P(LoopGroup, AGroupIsASchedulerOfEntriesAndTimers) {
    loop_group group(of(2));
    scheduler& somewhere = group;
    std::latch done(3);
    eddy::loop* fired_on = nullptr;
    job ran([&] { done.count_down(); });
    alarm ring(group.at(1), [&] {
        fired_on = eddy::loop::current();
        done.count_down();
    });
    alarm cancelled(group.at(0), {}, [&] { done.count_down(); });
    somewhere.post(ran);
    somewhere.post_after(1ms, ring);
    somewhere.post_after(1h, cancelled);
    somewhere.cancel(cancelled);
    group.start();
    done.wait();
    group.stop();
    group.join();
    EXPECT_EQ(fired_on, &group.at(1));
    EXPECT_EQ(cancelled.cancels, 1);
}

TEST_P(LoopGroup, AnEntryIsCancelledThroughTheGroup) {
    loop_group group(of(2));
    job work;
    group.post(work);
    group.cancel(work);
    group.start();
    group.stop();
    group.join();
    EXPECT_EQ(work.cancels, 1);
}

TEST_P(LoopGroup, ThreadsInheritTheMaskThatTheCallerKeeps) {
    sigset_t mask;
    sigset_t before;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGUSR2);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    ASSERT_EQ(::sigismember(&before, SIGUSR2), 0);
    {
        loop_group group(of(2));
        std::latch done(2);
        group.start(mask);
        for (std::size_t i = 0; i != 2; ++i) {
            group.at(i).post([&] {
                sigset_t inside;
                ::pthread_sigmask(SIG_SETMASK, nullptr, &inside);
                EXPECT_EQ(::sigismember(&inside, SIGUSR2), 1);
                EXPECT_EQ(::sigismember(&inside, SIGUSR1), 0);
                done.count_down();
            });
        }
        done.wait();
        sigset_t here;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
        EXPECT_EQ(::sigismember(&here, SIGUSR2), 1);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_P(LoopGroup, ThreadsArePinnedToCoresIfAskedTo) {
    auto options = of(2);
    options.pin_to_cores = true;
    loop_group group(options);
    cpu_set_t allowed;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    std::latch done(2);
    group.start();
    for (unsigned i = 0; i != 2; ++i) {
        group.at(i).post([&, i] {
            const unsigned core = i % std::thread::hardware_concurrency();
            cpu_set_t mine;
            EXPECT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
            if (CPU_ISSET(core, &allowed)) {
                EXPECT_EQ(CPU_COUNT(&mine), 1);
                EXPECT_TRUE(CPU_ISSET(core, &mine));
            }
            done.count_down();
        });
    }
    done.wait();
}

TEST_P(LoopGroup, StoppingDrainsIoOfEachLoopOnItsThread) {
    loop_group group(of(2));
    auto [near, peer] = unix_stream_pair();
    std::string buffer(8, '\0');
    recorder receiving;
    std::optional<descriptor> socket;
    std::latch started(1);
    group.start();
    group.at(1).post([&, fd = near.release()] {
        socket.emplace(group.at(1), unique_fd(fd));
        receiving.start(group.at(1), recv(*socket, bytes(buffer)));
        receiving.then([&](recorder&) { socket.reset(); });
        started.count_down();
    });
    started.wait();
    group.stop();
    group.join();
    EXPECT_EQ(receiving.error(), std::errc::operation_canceled);
}

TEST_P(LoopGroup, TimersOfTheSystemClockDoNotTieAStoppedLoopToItsThread) {
    loop_group group(of(1));
    std::optional<alarm> ring;
    std::latch done(1);
    group.start();
    group.at(0).post([&] {
        ring.emplace(group.at(0), std::function<void()>(), std::function<void()>(),
                     timer_clock::system);
        group.at(0).post_at(std::chrono::system_clock::now() + 1h, *ring);
        done.count_down();
    });
    done.wait();
    group.stop();
    group.join();
    EXPECT_EQ(ring->cancels, 1);
    group.start();  // another thread, and with io_uring another ring
}

class LoopBlocking : public LoopTest {};
EDDY_ON_READINESS_ENGINES(LoopBlocking);

TEST_P(LoopBlocking, FileCallsAreMadeByTheExecutor) {
    loop_group pool({.size = 1, .loop = {.engine = engine_kind::epoll}});
    make_loop({.blocking = &pool});
    const scratch_directory scratch;
    descriptor file = attach(scratch.file("f", "hello"));
    std::string buffer(5, '\0');
    recorder reading;
    recorder opening;
    const std::string path = scratch.path("f");
    start(reading, read(file, bytes(buffer), 0));
    start(opening, open(path.c_str(), 0));
    loop().poll();
    EXPECT_FALSE(reading.ended() || opening.ended());  // the pool does not run yet
    pool.start();
    EXPECT_TRUE(ends(reading));
    EXPECT_TRUE(ends(opening));
    EXPECT_EQ(buffer, "hello");
    unique_fd(opening.result().fd()).reset();
    pool.stop();
    pool.join();
    EXPECT_EQ(pool.at(0).counters().posts, 2U);
    file.close();
    end_loop();
}

TEST_P(LoopBlocking, WhatTheExecutorDropsEndsWithCanceled) {
    auto pool = std::make_unique<loop_group>(
        loop_group_options{.size = 1, .loop = {.engine = engine_kind::epoll}});
    make_loop({.blocking = pool.get()});
    const scratch_directory scratch;
    descriptor file = attach(scratch.file("f", "hello"));
    std::string buffer(5, '\0');
    recorder reading;
    start(reading, read(file, bytes(buffer), 0));
    loop().poll();
    pool.reset();
    EXPECT_TRUE(ends(reading));
    EXPECT_EQ(reading.error(), std::errc::operation_canceled);
    file.close();
    end_loop();
}

TEST_P(LoopBlocking, DrainingAndDestroyingWaitForTheExecutor) {
    loop_group pool({.size = 1, .loop = {.engine = engine_kind::epoll}});
    pool.start();
    for (int i = 0; i != 200; ++i) {
        make_loop({.blocking = &pool});
        const std::string path = "/dev/null";
        recorder opening([](recorder& r) { unique_fd(r.result().fd()).reset(); });
        start(opening, open(path.c_str(), 0));
        loop().poll();
        if (i % 2 == 0) {
            loop().stop();
            loop().run(run_mode::drained);
        }
        end_loop();
        EXPECT_TRUE(opening.ended());
    }
}

/// Of three threads, the second cannot be started.
TEST_P(LoopGroup, AThreadThatCannotBeStartedIsThrownAndNoneIsLeft) {
    const thread_census threads;
    loop_group group(of(3));
    kernel::fail(kernel::call::thread, EAGAIN, 1);
    try {
        group.start();
        ADD_FAILURE() << "it has started";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
        EXPECT_STREQ(e.what(),
                     "loop_group: cannot start a thread: Resource temporarily unavailable");
    }
    kernel::fail_nothing();
    EXPECT_TRUE(threads.started().empty());
    std::atomic<int> ran = 0;
    for (std::size_t i = 0; i != group.size(); ++i) {
        group.at(i).post([&] { ++ran; });
    }
    group.start();
    group.stop();
    group.join();
    EXPECT_EQ(ran.load(), 3);
}

/// If one thread of a group cannot be created, those before it run already. start() must end them
/// and leave the group as it was, so that the program can retry.
TEST_P(LoopGroup, AStartThatFailedCanBeTriedAgain) {
#if EDDY_SANITIZED
    GTEST_SKIP() << "a sanitizer needs its address space";
#endif
    const int ended = in_child([&] {
        constexpr std::size_t size = 64;
        loop_group group(of(size));
        rlimit before{};
        ::getrlimit(RLIMIT_AS, &before);
        pthread_attr_t attributes;
        ::pthread_getattr_default_np(&attributes);
        std::size_t stack = 0;
        ::pthread_attr_getstacksize(&attributes, &stack);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit few_threads = before;
        few_threads.rlim_cur =
            pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (stack + (1U << 20)) * 6;
        ::setrlimit(RLIMIT_AS, &few_threads);
        bool failed = false;
        try {
            group.start();
        } catch (const std::system_error&) {
            failed = true;
        }
        ::setrlimit(RLIMIT_AS, &before);
        EXPECT_TRUE(failed);
        if (!failed) {
            return 0;
        }
        group.start();
        std::atomic<std::size_t> ran = 0;
        std::latch all(size);
        for (std::size_t i = 0; i != size; ++i) {
            group.at(i).post([&] {
                ++ran;
                all.count_down();
            });
        }
        const time_point limit = clock::now() + patience;
        while (!all.try_wait() && clock::now() < limit) {
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_EQ(ran.load(), size);
        group.stop();
        group.join();
        return 0;
    });
    EXPECT_EQ(ended, 0);
}

/// One of three loops.
TEST_P(LoopGroup, StopsAndThrowsFromJoinWhenALoopCannotWait) {
    const heard_reports heard;
    loop_group group(of(3));
    for (unsigned round = 0; round != 2; ++round) {
        refuse_waits(GetParam(), EFAULT, 1);
        group.start();
        try {
            group.join();
            ADD_FAILURE() << "join() has not thrown";
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.code(), std::errc::bad_address);
        }
        EXPECT_EQ(heard.with("cannot wait"), round + 1) << heard.all();
        kernel::fail_nothing();
    }
    std::atomic<bool> ran = false;
    group.start();
    group.at(0).post([&] {
        ran = true;
        group.stop();
    });
    EXPECT_NO_THROW(group.join());
    EXPECT_TRUE(ran);
}

/// Starts the group again. Each loop finds itself in a run that nobody has stopped.
void expect_each_runs_on(loop_group& group) {
    std::latch done(static_cast<std::ptrdiff_t>(group.size()));
    for (std::size_t i = 0; i != group.size(); ++i) {
        group.at(i).post([&, i] {
            EXPECT_FALSE(group.at(i).ends()) << "an old stop ends loop " << i;
            done.count_down();
        });
    }
    group.start();
    done.wait();
    group.stop();
    EXPECT_NO_THROW(group.join());
}

TEST_P(LoopGroup, RunsAgainAfterAStopThatCameWhenALoopHadFailed) {
    const heard_reports heard;
    loop_group group(of(2));
    refuse_waits(GetParam(), EFAULT, 1);
    group.start();
    const time_point limit = clock::now() + patience;
    while (heard.with("a loop group stops") == 0 && clock::now() < limit) {
        std::this_thread::yield();
    }
    group.stop();  // the run of the one that has failed is over
    EXPECT_THROW(group.join(), std::system_error);
    kernel::fail_nothing();
    expect_each_runs_on(group);
}

TEST_P(LoopGroup, RunsAgainAfterAllItsLoopsHaveFailed) {
    for (int round = 0; round != 20; ++round) {
        const heard_reports heard;
        loop_group group(of(2));
        std::latch both_run(2);
        for (std::size_t i = 0; i != 2; ++i) {
            group.at(i).post([&] {
                both_run.arrive_and_wait();
                refuse_waits(GetParam(), EFAULT, 1'000'000);
            });
        }
        group.start();
        EXPECT_THROW(group.join(), std::system_error);
        kernel::fail_nothing();
        expect_each_runs_on(group);
    }
}

TEST_P(LoopGroup, AStopBetweenTwoRunsEndsTheNextOneAfterAFailure) {
    const heard_reports heard;
    loop_group group(of(2));
    refuse_waits(GetParam(), EFAULT, 1'000'000);
    group.start();
    EXPECT_THROW(group.join(), std::system_error);
    kernel::fail_nothing();
    group.stop();
    group.start();
    EXPECT_NO_THROW(group.join());
}

TEST_P(LoopGroup, IsDestroyedInOrderWhenALoopCannotWait) {
    const heard_reports heard;
    {
        loop_group group(of(2));
        refuse_waits(GetParam(), EFAULT, 1'000'000);
        group.start();
        const time_point limit = clock::now() + 10s;
        while (heard.with("cannot wait") == 0 && clock::now() < limit) {
            std::this_thread::yield();
        }
    }
    EXPECT_NE(heard.with("cannot wait"), 0U);
}

}  // namespace
}  // namespace eddy::test::group_test
