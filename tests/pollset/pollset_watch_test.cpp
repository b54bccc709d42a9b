// SPDX-License-Identifier: Apache-2.0
#include "kernel/call.hpp"
#include "support/pollset_fixture.hpp"
#include "support/signals.hpp"

#include <eddy/base/error.hpp>
#include <eddy/pollset/pollset_watch.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace eddy::test::pollset_watch_test {
namespace {

class probe final : public pollset_watch {
public:
    using handler = std::function<reaction(probe&, interest)>;

    probe(pollset& set, unique_fd fd, interest wanted, handler h,
          pollset_watch_options options = {})
        : pollset_watch(set, std::move(fd), wanted, options), handler_(std::move(h)) {
        arm();
    }
    ~probe() override { EXPECT_EQ(removals, 1); }

    std::atomic<int> calls{0};
    std::atomic<int> inside{0};
    std::atomic<int> most_inside{0};
    std::atomic<int> removals{0};

private:
    reaction on_ready(interest ready) override {
        const int now = ++inside;
        for (int seen = most_inside; seen < now && !most_inside.compare_exchange_weak(seen, now);) {
        }
        ++calls;
        const reaction r = handler_(*this, ready);
        --inside;
        return r;
    }
    void on_removed() noexcept override {
        EXPECT_EQ(inside, 0);
        ++removals;
    }

    handler handler_;
};

std::size_t drain(int fd) {
    std::array<char, 4096> bytes;
    std::size_t total = 0;
    for (;;) {
        const ssize_t n = ::read(fd, bytes.data(), bytes.size());
        if (n <= 0) {
            return total;
        }
        total += static_cast<std::size_t>(n);
    }
}

fd_pair nonblocking_pipe() {
    fd_pair pipe = make_pipe();
    set_nonblocking(pipe.first.get(), true);
    return pipe;
}

class PollsetWatch : public PollsetTest {};

TEST_P(PollsetWatch, IsCalledForEachEventWhileItRearms) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    probe watch(set, std::move(read), interest::readable, [](probe& w, interest ready) {
        EXPECT_EQ(ready, interest::readable);
        drain(w.fd());
        return reaction::rearm;
    });
    for (int round = 1; round <= 50; ++round) {
        write_all(write.get(), "x");
        ASSERT_TRUE(until(set, [&] { return watch.calls == round; }));
    }
    watch.remove();
    EXPECT_EQ(watch.removals, 1);
}

TEST_P(PollsetWatch, ReadingAPartIsCalledAgainWithoutACallOfTheKernel) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    std::string got;
    probe watch(set, std::move(read), interest::readable, [&](probe& w, interest) {
        char byte = 0;
        if (::read(w.fd(), &byte, 1) != 1) {
            return reaction::rearm;
        }
        got += byte;
        return reaction::again;
    });
    const auto before = domain().counters().registrations;
    write_all(write.get(), "abcdef");
    EXPECT_TRUE(until(set, [&] { return got == "abcdef"; }));
    settle(set);
    if (GetParam() != poll_strategy::poll) {  // there a change of interest costs no call
        EXPECT_EQ(domain().counters().registrations, before);
    }
    watch.remove();
}

TEST_P(PollsetWatch, IsNotCalledWhileItIsDisarmedAndLosesNothing) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    probe watch(set, std::move(read), interest::readable, [](probe& w, interest) {
        drain(w.fd());
        return reaction::disarm;
    });
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return watch.calls == 1; }));
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(clock::now() + 5ms), work_end::timed_out);
    EXPECT_EQ(watch.calls, 1);
    watch.arm();
    EXPECT_TRUE(until(set, [&] { return watch.calls == 2; }));
    watch.arm();
    watch.disarm();
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(clock::now() + 5ms), work_end::timed_out);
    watch.arm();
    EXPECT_TRUE(until(set, [&] { return watch.calls == 3; }));
    watch.remove();
}

TEST_P(PollsetWatch, DisarmedBeforeTheEventItWaitsForArm) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    probe watch(set, std::move(read), interest::readable,
                [](probe&, interest) { return reaction::disarm; });
    watch.disarm();
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(clock::now() + 5ms), work_end::timed_out);
    watch.arm();
    EXPECT_TRUE(until(set, [&] { return watch.calls == 1; }));
    watch.remove();
}

TEST_P(PollsetWatch, ArmedAgainUnexhaustedItIsQueuedAtOnce) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    probe watch(set, std::move(read), interest::readable,
                [](probe&, interest) { return reaction::disarm; });
    write_all(write.get(), "xx");
    ASSERT_TRUE(until(set, [&] { return watch.calls == 1; }));
    const auto waits = domain().counters().waits;
    watch.rearm(false);
    EXPECT_EQ(*set.try_work(), work_end::ran);
    EXPECT_EQ(watch.calls, 2);
    EXPECT_EQ(domain().counters().waits, waits) << "the kernel was not asked";
    watch.remove();
}

TEST_P(PollsetWatch, WhatItDoesInsideTheHandlerStandsWithLeave) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    probe watch(set, std::move(read), interest::readable, [](probe& w, interest) {
        drain(w.fd());
        w.disarm();
        if (w.calls == 1) {
            w.arm();
        }
        return reaction::leave;
    });
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return watch.calls == 1; }));
    write_all(write.get(), "x");
    ASSERT_TRUE(until(set, [&] { return watch.calls == 2; }));
    write_all(write.get(), "x");
    EXPECT_EQ(*set.work(clock::now() + 5ms), work_end::timed_out);
    watch.remove();
}

TEST_P(PollsetWatch, RemovedInsideItsHandlerItEndsWhenThatReturns) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    const int fd = read.get();
    probe by_reaction(set, std::move(read), interest::readable,
                      [](probe&, interest) { return reaction::remove; });
    auto [other_read, other_write] = nonblocking_pipe();
    probe by_call(set, std::move(other_read), interest::readable, [](probe& w, interest) {
        w.remove();
        EXPECT_EQ(w.removals, 0);
        return reaction::rearm;
    });
    write_all(write.get(), "x");
    write_all(other_write.get(), "x");
    EXPECT_TRUE(until(set, [&] { return by_reaction.removals == 1 && by_call.removals == 1; }));
    EXPECT_FALSE(is_open(fd));
}

TEST_P(PollsetWatch, RemovedByAnotherThreadItEndsAfterTheCallInProgress) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};
    probe watch(set, std::move(read), interest::readable, [&](probe&, interest) {
        entered = true;
        while (!leave) {
            std::this_thread::yield();
        }
        return reaction::rearm;
    });
    std::thread worker([&] { EXPECT_EQ(*set.work(soon()), work_end::ran); });
    write_all(write.get(), "x");
    while (!entered) {
        std::this_thread::yield();
    }
    watch.remove();
    EXPECT_EQ(watch.removals, 0) << "a thread is inside";
    leave = true;
    worker.join();
    EXPECT_EQ(watch.removals, 1);
    EXPECT_EQ(watch.calls, 1);
}

TEST_P(PollsetWatch, BothDirectionsShareOneHandlerThatNeverRunsTwice) {
    pollset set(domain());
    auto [near, far] = tcp_pair();
    set_nonblocking(near.get(), true);
    std::atomic<int> reads{0};
    std::atomic<int> writes{0};
    probe watch(set, std::move(near), interest::readable | interest::writable,
                [&](probe& w, interest ready) {
                    if (ready == interest::readable) {
                        reads += static_cast<int>(drain(w.fd()));
                        return reaction::rearm;
                    }
                    ++writes;
                    return writes < 200 ? reaction::again : reaction::rearm;
                });
    std::vector<std::thread> workers;
    for (int i = 0; i != 3; ++i) {
        workers.emplace_back(
            [&] { EXPECT_TRUE(until(set, [&] { return reads == 200 && writes >= 200; }, 20s)); });
    }
    for (int i = 0; i != 200; ++i) {
        send_all(far.get(), "x");
    }
    for (std::thread& worker : workers) {
        while (worker.joinable() && !(reads == 200 && writes >= 200)) {
            std::this_thread::yield();
        }
        set.wake(3);
    }
    set.kick_any();
    for (std::thread& worker : workers) {
        set.wake(3);
        worker.join();
    }
    EXPECT_EQ(watch.most_inside, 1);
    watch.remove();
}

TEST_P(PollsetWatch, AConcurrentOneRunsOnSeveralThreads) {
    pollset set(domain());
    tcp_listener listener;
    const unsigned short port = listener.port();
    set_nonblocking(listener.get(), true);
    std::atomic<int> accepted{0};
    std::atomic<int> waiting{0};
    probe watch(set, listener.take(), interest::readable,
                [&](probe& w, interest) {
                    const unique_fd one(::accept4(w.fd(), nullptr, nullptr, SOCK_CLOEXEC));
                    if (one) {
                        ++accepted;
                        ++waiting;
                        for (const time_point end = soon(); waiting < 2 && clock::now() < end;) {
                            std::this_thread::yield();
                        }
                    }
                    return reaction::rearm;
                },
                {.concurrent = true});
    std::vector<std::thread> workers;
    for (int i = 0; i != 2; ++i) {
        workers.emplace_back([&] { EXPECT_EQ(*set.work(soon()), work_end::ran); });
    }
    const unique_fd first = tcp_connect(port);
    while (accepted == 0) {
        std::this_thread::yield();
    }
    const unique_fd second = tcp_connect(port);
    for (std::thread& worker : workers) {
        worker.join();
    }
    EXPECT_EQ(watch.most_inside, 2);
    watch.remove();
    EXPECT_EQ(watch.removals, 1);
}

TEST_P(PollsetWatch, WatchesTheEndOfAChildAndATimerfd) {
    pollset set(domain());
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(7);
    }
    unique_fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    ASSERT_TRUE(pidfd);
    probe ended(set, std::move(pidfd), interest::readable,
                [](probe&, interest) { return reaction::disarm; });
    unique_fd timerfd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const itimerspec in_2_ms{{0, 2'000'000}, {0, 2'000'000}};
    ASSERT_EQ(::timerfd_settime(timerfd.get(), 0, &in_2_ms, nullptr), 0);
    probe ticks(set, std::move(timerfd), interest::readable, [](probe& w, interest) {
        std::uint64_t expiries = 0;
        EXPECT_EQ(::read(w.fd(), &expiries, sizeof expiries), 8);
        return reaction::rearm;
    });
    EXPECT_TRUE(until(set, [&] { return ended.calls == 1 && ticks.calls >= 3; }));
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    ended.remove();
    ticks.remove();
}

TEST_P(PollsetWatch, ASignalfdIsRefused) {
    pollset set(domain());
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGUSR1);
    held_handle handle(domain(), unique_fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)));
    EXPECT_EQ(set.add(*handle), errc::signal_needs_loop);
}

TEST_P(PollsetWatch, QueuedAgainByItsHandlerItCostsNoCallOfTheKernel) {
    pollset set(domain());
    for (const bool by_call : {false, true}) {
        auto [read, write] = nonblocking_pipe();
        std::uint64_t before = 0;
        std::vector<std::uint64_t> calls_between;
        probe watch(set, std::move(read), interest::readable, [&](probe& w, interest) {
            const std::uint64_t now = kernel::calls_made();
            if (w.calls != 1) {
                calls_between.push_back(now - before);
            }
            if (w.calls >= 5) {
                return reaction::disarm;
            }
            if (by_call) {
                w.rearm(false);
            }
            before = kernel::calls_made();
            return by_call ? reaction::leave : reaction::again;
        });
        write_all(write.get(), "x");
        EXPECT_TRUE(until(set, [&] { return watch.calls == 5; }));
        EXPECT_EQ(calls_between, std::vector<std::uint64_t>(4, 0));
        before = kernel::calls_made();
        watch.rearm(false);
        ASSERT_EQ(*set.try_work(), work_end::ran);
        EXPECT_EQ(watch.calls, 6);
        EXPECT_EQ(kernel::calls_made(), before);
        watch.remove();
    }
}

TEST_P(PollsetWatch, DisarmedByAnotherThreadDuringACallItIsNotCalledAgain) {
    pollset set(domain());
    auto [read, write] = nonblocking_pipe();
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};
    probe watch(set, std::move(read), interest::readable, [&](probe& w, interest) {
        drain(w.fd());
        w.arm();
        entered = true;
        EXPECT_TRUE(comes([&] { return leave.load(); }));
        return reaction::leave;
    });
    std::thread worker([&] { EXPECT_EQ(*set.work(soon()), work_end::ran); });
    write_all(write.get(), "x");
    EXPECT_TRUE(comes([&] { return entered.load(); }));
    watch.disarm();
    leave = true;
    worker.join();
    write_all(write.get(), "x");
    EXPECT_EQ(*set.try_work(), work_end::timed_out);
    EXPECT_EQ(watch.calls, 1);
    watch.arm();
    EXPECT_TRUE(until(set, [&] { return watch.calls == 2; })) << "nothing was lost";
    watch.remove();
}

TEST_P(PollsetWatch, AConcurrentOneIsRemovedWhenBothThreadsHaveLeft) {
    pollset set(domain());
    std::atomic<int> let_out{0};
    unique_fd fd = make_eventfd();
    const int number = fd.get();
    probe watch(set, std::move(fd), interest::readable,
                [&, next = std::make_shared<std::atomic<int>>(0)](probe&, interest) {
                    const int mine = ++*next;
                    EXPECT_TRUE(comes([&] { return let_out >= mine; }));
                    return reaction::rearm;
                },
                {.concurrent = true});
    std::atomic<int> returned{0};
    const auto work = [&] {
        EXPECT_EQ(*set.work(soon()), work_end::ran);
        ++returned;
    };
    std::thread one(work);
    std::thread other(work);
    EXPECT_EQ(::eventfd_write(number, 1), 0);
    EXPECT_TRUE(comes([&] { return watch.inside >= 1; }));
    EXPECT_EQ(::eventfd_write(number, 1), 0);
    EXPECT_TRUE(comes([&] { return watch.inside == 2; }));
    watch.remove();
    EXPECT_EQ(watch.removals, 0);
    let_out = 1;
    EXPECT_TRUE(comes([&] { return returned == 1; }));
    EXPECT_EQ(watch.removals, 0) << "one is still inside";
    let_out = 2;
    one.join();
    other.join();
    EXPECT_EQ(watch.removals, 1);
    EXPECT_EQ(watch.calls, 2);
}

TEST_P(PollsetWatch, WithAnotherPriorityIsCalledFirst) {
    pollset set(domain());
    auto [low_read, low_write] = nonblocking_pipe();
    auto [high_read, high_write] = nonblocking_pipe();
    std::string order;
    probe low(set, std::move(low_read), interest::readable,
              [&](probe&, interest) {
                  order += 'l';
                  return reaction::disarm;
              },
              {.priority = 40});
    probe high(set, std::move(high_read), interest::readable,
               [&](probe&, interest) {
                   order += 'h';
                   return reaction::disarm;
               },
               {.priority = 3});
    low.rearm(false);
    high.rearm(false);
    EXPECT_TRUE(until(set, [&] { return order.size() == 2; }));
    EXPECT_EQ(order, "hl");
    low.remove();
    high.remove();
}

EDDY_WITH_EVERY_STRATEGY(PollsetWatch);

}  // namespace
}  // namespace eddy::test::pollset_watch_test
