// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "kernel/event.hpp"
#include "support/fds.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <span>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eddy::test::wait_test {
namespace {

using namespace eddy;
using namespace std::chrono_literals;
using kernel::call;

enum class way { epoll_pwait2, epoll_wait, poll };

/// Each way in which the library waits.
class Wait : public ::testing::TestWithParam<way> {
protected:
    void SetUp() override {
        ASSERT_FALSE(kernel::make_epoll(epoll_));
        ASSERT_FALSE(kernel::make_eventfd(event_));
        epoll_event event{};
        event.events = EPOLLIN;
        ASSERT_FALSE(kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_.get(), &event));
        if (GetParam() == way::epoll_wait) {
            kernel::fail(call::epoll_pwait2, 1, 0, UINT32_MAX);
        }
    }
    void TearDown() override { kernel::fail_nothing(); }

    static std::error_code told(io_result found, std::size_t& count) {
        count = found.count();
        return found.error();
    }
    std::error_code wait_once(time_point until, std::size_t& count) {
        if (GetParam() == way::poll) {
            pollfd question{event_.get(), POLLIN, 0};
            return told(kernel::poll_wait({&question, 1}, until), count);
        }
        std::array<epoll_event, 4> events;
        return told(kernel::epoll_wait(epoll_.get(), events, until), count);
    }

    /// As a loop waits; returns how many calls it took.
    unsigned wait_until(time_point until) {
        unsigned calls = 0;
        for (std::size_t count = 0; clock::now() < until && count == 0; ++calls) {
            EXPECT_FALSE(wait_once(until, count));
        }
        return calls;
    }

    unique_fd epoll_;
    unique_fd event_;
};

TEST_P(Wait, ReportsWhatIsReady) {
    std::size_t count = 9;
    EXPECT_FALSE(wait_once(time_point::min(), count));
    EXPECT_EQ(count, 0U);
    kernel::signal_eventfd(event_.get());
    EXPECT_FALSE(wait_once(never, count));
    EXPECT_EQ(count, 1U);
}

TEST_P(Wait, DoesNotBlockForADeadlineThatIsPast) {
    std::size_t count = 9;
    const time_point before = clock::now();
    for (const time_point past : {time_point::min(), time_point(1ns), before - 1h, before}) {
        EXPECT_FALSE(wait_once(past, count));
        EXPECT_EQ(count, 0U);
    }
    EXPECT_LT(clock::now() - before, 1s);
}

TEST_P(Wait, DoesNotSpinTowardsASubMillisecondDeadline) {
    for (const duration left : {100us, 300us, 900us, 1100us, 1900us}) {
        // Early is allowed (a signal, a coarse clock), again and again is not.
        EXPECT_LE(wait_until(clock::now() + left), 4U) << left.count() << " ns";
    }
}

TEST_P(Wait, DoesNotReturnEarlyWithoutAReason) {
    std::size_t count = 0;
    int early = 0;
    for (int i = 0; i != 20; ++i) {
        const time_point until = clock::now() + 250us;
        EXPECT_FALSE(wait_once(until, count));
        early += clock::now() < until ? 1 : 0;
    }
    // Rounded down to milliseconds it would be every time.
    EXPECT_LE(early, 5);
}

TEST_P(Wait, ADeadlineThatIsFarAwayIsNotOverflown) {
    for (const time_point far : {never, never - 1ns, clock::now() + 24h * 365 * 200}) {
        std::size_t count = 0;
        kernel::signal_eventfd(event_.get());
        EXPECT_FALSE(wait_once(far, count)) << far.time_since_epoch().count();
        EXPECT_EQ(count, 1U);
        kernel::drain_eventfd(event_.get());
    }
}

TEST_P(Wait, IsEndedByAnEventLongBeforeItsDeadline) {
    std::thread waker([&] { kernel::signal_eventfd(event_.get()); });
    std::size_t count = 0;
    const time_point until = clock::now() + 1h;
    while (count == 0) {
        ASSERT_FALSE(wait_once(until, count));
    }
    waker.join();
    EXPECT_LT(clock::now(), until);
}

extern "C" void do_nothing(int) {}

TEST_P(Wait, AnInterruptionIsNoErrorAndNoEvent) {
    struct sigaction quiet{};
    quiet.sa_handler = &do_nothing;
    struct sigaction old{};
    ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &old), 0);
    // Blocked until the wait is under way: a signal of a timer, so that nobody has to guess when.
    timer_t timer;
    sigevent notification{};
    notification.sigev_notify = SIGEV_SIGNAL;
    notification.sigev_signo = SIGUSR1;
    ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, &notification, &timer), 0);
    const itimerspec often{{0, 2'000'000}, {0, 2'000'000}};
    ASSERT_EQ(::timer_settime(timer, 0, &often, nullptr), 0);
    std::size_t count = 9;
    const time_point until = clock::now() + 1h;
    EXPECT_FALSE(wait_once(until, count));
    EXPECT_EQ(count, 0U);
    EXPECT_LT(clock::now(), until);
    ::timer_delete(timer);
    ASSERT_EQ(::sigaction(SIGUSR1, &old, nullptr), 0);
}

TEST_P(Wait, TellsAnErrorOfTheKernel) {
    std::size_t count = 9;
    kernel::fail(GetParam() == way::poll ? call::poll : call::epoll_wait, ENOMEM);
    EXPECT_EQ(wait_once(never, count), std::errc::not_enough_memory);
    EXPECT_EQ(count, 0U);
    kernel::fail(GetParam() == way::poll ? call::poll : call::epoll_wait, EINTR);
    EXPECT_FALSE(wait_once(never, count));
    EXPECT_EQ(count, 0U);
}

INSTANTIATE_TEST_SUITE_P(Way, Wait,
                         ::testing::Values(way::epoll_pwait2, way::epoll_wait, way::poll),
                         [](const auto& test) {
                             return test.param == way::epoll_pwait2 ? "epoll_pwait2"
                                    : test.param == way::epoll_wait ? "epoll_wait"
                                                                    : "poll";
                         });

TEST(WaitWithoutPwait2, RoundsMillisecondsUp) {
    unique_fd epoll;
    ASSERT_FALSE(kernel::make_epoll(epoll));
    std::array<epoll_event, 1> events;
    kernel::fail(call::epoll_pwait2, 1);
    const time_point until = clock::now() + 1100us;
    EXPECT_TRUE(kernel::epoll_wait(epoll.get(), events, until));
    EXPECT_GE(clock::now(), until);
    kernel::fail_nothing();
}

TEST(WaitOnNothing, IsAnError) {
    std::array<epoll_event, 1> events;
    EXPECT_EQ(kernel::epoll_wait(-1, events, never).error(), std::errc::bad_file_descriptor);
}

TEST(Eventfd, IsCloexecAndNeverBlocks) {
    unique_fd fd;
    ASSERT_FALSE(kernel::make_eventfd(fd));
    EXPECT_TRUE(test::is_cloexec(fd.get()));
    EXPECT_TRUE(test::is_nonblocking(fd.get()));
    kernel::drain_eventfd(fd.get());  // nothing to read: comes back
}

TEST(Eventfd, IsReadableFromTheSignalToTheDrain) {
    unique_fd fd;
    ASSERT_FALSE(kernel::make_eventfd(fd));
    EXPECT_FALSE(test::becomes_ready(fd.get(), POLLIN, 0));
    kernel::signal_eventfd(fd.get());
    kernel::signal_eventfd(fd.get());
    EXPECT_TRUE(test::becomes_ready(fd.get(), POLLIN, 0));
    kernel::drain_eventfd(fd.get());
    EXPECT_FALSE(test::becomes_ready(fd.get(), POLLIN, 0));
}

TEST(Eventfd, StaysReadableWhenItsCounterIsFull) {
    unique_fd fd;
    ASSERT_FALSE(kernel::make_eventfd(fd));
    const std::uint64_t nearly_all = UINT64_MAX - 1;
    ASSERT_EQ(::write(fd.get(), &nearly_all, sizeof nearly_all), ssize_t{sizeof nearly_all});
    kernel::signal_eventfd(fd.get());  // EAGAIN: must not spin
    EXPECT_TRUE(test::becomes_ready(fd.get(), POLLIN, 0));
}

TEST(MakingDescriptors, FailsWithAValue) {
    unique_fd fd;
    kernel::fail(call::eventfd, EMFILE);
    EXPECT_EQ(kernel::make_eventfd(fd), std::errc::too_many_files_open);
    kernel::fail(call::epoll_create, EMFILE);
    EXPECT_EQ(kernel::make_epoll(fd), std::errc::too_many_files_open);
    kernel::fail(call::timerfd, EMFILE);
    EXPECT_EQ(kernel::make_system_timerfd(fd), std::errc::too_many_files_open);
    EXPECT_FALSE(fd);
    kernel::fail_nothing();
}

class SystemTimerfd : public ::testing::Test {
protected:
    SystemTimerfd() { EXPECT_FALSE(kernel::make_system_timerfd(fd_)); }

    bool ready(int limit_ms) const { return test::becomes_ready(fd_.get(), POLLIN, limit_ms); }
    static system_time_point now() {
        return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    }

    unique_fd fd_;
};

TEST_F(SystemTimerfd, IsCloexecAndNeverBlocks) {
    EXPECT_TRUE(test::is_cloexec(fd_.get()));
    EXPECT_TRUE(test::is_nonblocking(fd_.get()));
}

TEST_F(SystemTimerfd, IsReadyAtItsTimeAndNotBefore) {
    const system_time_point when = now() + 5ms;
    ASSERT_FALSE(kernel::set_system_timerfd(fd_.get(), when));
    EXPECT_TRUE(ready(5000));
    EXPECT_GE(now(), when);
}

TEST_F(SystemTimerfd, IsReadyAtOnceForATimeThatIsPast) {
    for (const system_time_point past :
         {now() - 1s, system_time_point(), system_time_point(-1s), system_time_point::min()}) {
        ASSERT_FALSE(kernel::set_system_timerfd(fd_.get(), past));
        EXPECT_TRUE(ready(5000)) << past.time_since_epoch().count();
    }
}

TEST_F(SystemTimerfd, TheEndOfTimeDisarmsIt) {
    ASSERT_FALSE(kernel::set_system_timerfd(fd_.get(), now() - 1s));
    EXPECT_TRUE(ready(5000));
    ASSERT_FALSE(kernel::set_system_timerfd(fd_.get(), system_time_point::max()));
    EXPECT_FALSE(ready(0));
    ASSERT_FALSE(kernel::set_system_timerfd(fd_.get(), system_time_point::max() - 1ns));
    EXPECT_FALSE(ready(0));
}

TEST_F(SystemTimerfd, SettingWhatIsNoTimerIsAnError) {
    const auto pipe = test::make_pipe();
    EXPECT_EQ(kernel::set_system_timerfd(pipe.first.get(), now()), std::errc::invalid_argument);
}

}  // namespace
}  // namespace eddy::test::wait_test
