// SPDX-License-Identifier: Apache-2.0
#include "support/pollset_fixture.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace eddy::test::hand_over_test {
namespace {

/// A worker that blocks, or leaves, takes nothing with it.
class PollsetHandOver : public PollsetTest {
protected:
    /// A thread in `set`, until the end of the test.
    class helper {
    public:
        explicit helper(pollset& set)
            : set_(set), thread_([this] {
                  const time_point end = soon();
                  while (!over_ && clock::now() < end) {
                      static_cast<void>(set_.work(end));
                  }
              }) {}
        ~helper() {
            over_ = true;
            set_.kick_any();
            thread_.join();
        }

    private:
        pollset& set_;
        std::atomic<bool> over_{false};
        std::thread thread_;
    };

    /// Waits for `n` waits in all, so that a thread is in the kernel, or goes there.
    void await_waits(std::uint64_t n) {
        const time_point end = soon();
        while (domain().counters().waits < n && clock::now() < end) {
            std::this_thread::yield();
        }
    }
};

/// A poller that harvests several events runs its own closures one by one. Workers of another
/// pollset must not have to wait until it reaches the one that they could run now.
TEST_P(PollsetHandOver, ThoseOfAnotherPollsetAreToldOfWhatItsPollerRunsLater) {
    if (GetParam() == poll_strategy::epollex) {
        GTEST_SKIP() << "of two duplicates of one fd the kernel tells one";
    }
    for (int i = 0; i != 10; ++i) {
        pollset own(domain());
        pollset other(domain());
        pollset empty(domain());
        fd_pair pipe = make_pipe();
        // One write makes both ready, the shared one first: then the urgent one goes before it.
        held_handle urgent(domain(), unique_fd(::dup(pipe.first.get())), {.priority = 1});
        held_handle shared(domain(), std::move(pipe.first), {.priority = 40});
        ASSERT_FALSE(own.add(*urgent));
        ASSERT_FALSE(own.add(*shared));
        ASSERT_FALSE(other.add(*shared));
        std::atomic<bool> ran{false};
        callback on_shared([&](std::error_code) { ran = true; });
        bool in_time = false;
        callback on_urgent([&](std::error_code) {
            const time_point end = soon(2s);
            while (!ran && clock::now() < end) {
                std::this_thread::yield();
            }
            in_time = ran;
        });
        ASSERT_FALSE(shared->notify_on_read(on_shared));
        ASSERT_FALSE(urgent->notify_on_read(on_urgent));
        const std::uint64_t waits = domain().counters().waits;
        std::thread poller([&] {
            while (!in_time && *own.work(soon()) == work_end::ran) {}
        });
        await_waits(waits + 1);
        helper first(empty);
        std::this_thread::sleep_for(
            5ms);  // it sleeps before the next one: else the test shows less
        helper second(other);
        std::this_thread::sleep_for(5ms);
        write_all(pipe.second.get(), "x");
        poller.join();
        EXPECT_TRUE(in_time) << "round " << i;
    }
}

TEST_P(PollsetHandOver, APollsetThatIsShutDownLeavesAPollerBehind) {
    pollset own(domain());
    pollset other(domain());
    fd_pair pipe = make_pipe();
    held_handle reader(domain(), std::move(pipe.first));
    ASSERT_FALSE(other.add(*reader));
    noted read;
    ASSERT_FALSE(reader->notify_on_read(read));
    const std::uint64_t waits = domain().counters().waits;
    std::thread poller([&] { EXPECT_EQ(*own.work(soon()), work_end::shut_down); });
    await_waits(waits + 1);
    std::thread sleeper([&] { EXPECT_EQ(*other.work(soon()), work_end::ran); });
    std::this_thread::sleep_for(5ms);  // it sleeps: else the test shows less
    noted down;
    own.shutdown(down);
    poller.join();
    EXPECT_EQ(down.calls(), 1);
    write_all(pipe.second.get(), "x");
    sleeper.join();
    EXPECT_EQ(read.calls(), 1);
}

#if !defined(__SANITIZE_THREAD__)  // it puts handlers off, until their thread has a lock
/// Holds threads in a handler of SIGUSR1 until its end.
class detention {
public:
    detention() : gate_(make_pipe()) {
        here_ = gate_.first.get();
        struct sigaction holds{};
        holds.sa_handler = [](int) {
            char byte = 0;
            ++held_;
            while (::read(here_, &byte, 1) < 0 && errno == EINTR) {}
        };
        ::sigaction(SIGUSR1, &holds, &before_);
    }
    ~detention() {
        gate_.second.reset();
        ::sigaction(SIGUSR1, &before_, nullptr);
    }
    void take(std::thread& thread) { ::pthread_kill(thread.native_handle(), SIGUSR1); }
    static unsigned held() { return held_; }

private:
    fd_pair gate_;
    struct sigaction before_{};
    static inline int here_ = -1;
    static inline std::atomic<unsigned> held_{0};
};

TEST_P(PollsetHandOver, WhileOneThatWasCalledIsOnItsWayNobodyElseIs) {
    pollset set(domain());
    std::deque<held_handle> handles;
    std::deque<fd_pair> pipes;
    std::array<noted, 3> read;
    for (noted& one : read) {
        pipes.push_back(make_pipe());
        handles.emplace_back(domain(), std::move(pipes.back().first));
        ASSERT_FALSE(set.add(*handles.back()));
        ASSERT_FALSE(handles.back()->notify_on_read(one));
    }
    std::deque<inside> workers;
    for (unsigned i = 0; i != 5; ++i) {
        workers.emplace_back(set);
    }
    ASSERT_TRUE(comes([&] { return domain().counters().sleeps >= 4; }));
    std::this_thread::sleep_for(20ms);  // all wait: else the test shows less
    {
        detention prison;
        const unsigned before = detention::held();
        for (inside& one : workers) {
            prison.take(one.thread);
        }
        ASSERT_TRUE(comes([&] { return detention::held() == before + 5; }));
        const poll_counters counted = domain().counters();
        for (held_handle& one : handles) {
            one->make_ready(poll_event_kind::read);
        }
        EXPECT_LE(domain().counters().thread_wakes, counted.thread_wakes + 1);
        EXPECT_EQ(domain().counters().poller_wakes, counted.poller_wakes);
    }
    for (const noted& one : read) {
        EXPECT_TRUE(comes([&] { return one.calls() == 1; }));
    }
    noted down;
    set.shutdown(down);
    for (inside& one : workers) {
        one.join();
    }
}
#endif

EDDY_WITH_EVERY_STRATEGY(PollsetHandOver);

}  // namespace
}  // namespace eddy::test::hand_over_test
