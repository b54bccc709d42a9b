// SPDX-License-Identifier: Apache-2.0
#include "base/report.hpp"
#include "loop/allocations.hpp"
#include "loop/loop_fixture.hpp"
#include "support/random.hpp"

#include <atomic>
#include <csignal>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eddy::test::post_test {
namespace {

class LoopPost : public LoopTest {};
EDDY_ON_EVERY_ENGINE(LoopPost);

TEST_P(LoopPost, EntriesRunInTheOrderInWhichTheyWerePosted) {
    std::vector<int> order;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 1000; ++i) {
        jobs.push_back(std::make_unique<job>([&, i] { order.push_back(i); }));
        loop().post(*jobs.back());
    }
    loop().run(run_mode::empty);
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
}

TEST_P(LoopPost, WhatIsPostedFromOutsideRunsInOrderWhateverElseIsAmongIt) {
    std::vector<int> order;
    std::vector<std::unique_ptr<job>> jobs;
    const auto add = [&](int number) -> job& {
        jobs.push_back(std::make_unique<job>([&order, number] { order.push_back(number); }));
        return *jobs.back();
    };
    const auto add_low = [&](int number) -> job& {
        job& low = add(number);
        low.set_priority(63);
        return low;
    };
    alarm ring(loop(), [&] { order.push_back(100); });
    ring.set_priority(0);
    loop().post(add(0));
    loop().post(add_low(10));
    loop().post(add(1));
    loop().post_at(clock::now(), ring);  // also by the inbox
    loop().post(add(2));
    loop().post_next(add(3));
    loop().post(add_low(11));
    loop().post(add(4));
    loop().post(add(5));
    EXPECT_EQ(loop().run(run_mode::empty), jobs.size() + 1);
    // The 3 waits until the kernel was asked, which nobody of the others has to: each turn asks.
    std::vector<int> posted = order;
    std::erase(posted, 3);
    EXPECT_EQ(posted, (std::vector{100, 0, 1, 2, 4, 5, 10, 11}));
    EXPECT_EQ(order.size(), jobs.size() + 1);
    EXPECT_EQ(loop().counters().posts, jobs.size());
}

TEST_P(LoopPost, OneOfManyThatAreStillOutsideCanBeTakenBack) {
    std::vector<int> order;
    std::vector<std::unique_ptr<job>> jobs;
    for (int i = 0; i != 5; ++i) {
        jobs.push_back(std::make_unique<job>([&order, i] { order.push_back(i); }));
        loop().post(*jobs.back());
    }
    for (const std::size_t gone : {0U, 2U, 4U}) {
        EXPECT_TRUE(loop().disarm(*jobs[gone]));
        EXPECT_FALSE(jobs[gone]->posted());
    }
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(order, (std::vector{1, 3}));
    EXPECT_TRUE(loop().empty());
}

TEST_P(LoopPost, NothingRunsInsidePost) {
    job inner;
    job outer([&] {
        loop().post(inner);
        EXPECT_EQ(inner.runs, 0);
    });
    loop().post(outer);
    EXPECT_EQ(outer.runs, 0);
    loop().run(run_mode::empty);
    EXPECT_EQ(inner.runs, 1);
}

TEST_P(LoopPost, AnEntryIsIdleInsideItsCallbackAndCanBePostedAgain) {
    job* self = nullptr;
    job again([&] {
        EXPECT_FALSE(self->posted());
        if (self->runs < 3) {
            loop().post(*self);
        }
    });
    self = &again;
    loop().post(again);
    EXPECT_TRUE(again.posted());
    EXPECT_EQ(loop().run(run_mode::empty), 3U);
}

TEST_P(LoopPost, AnEntryCanBeDestroyedInsideItsCallback) {
    int done = 0;
    for (int i = 0; i != 2; ++i) {
        job* doomed = nullptr;
        const auto end = [&] {
            ++done;
            delete doomed;
        };
        doomed = new job(end, end);
        loop().post(*doomed);
        if (i == 1) {
            loop().cancel(*doomed);
        }
        loop().run(run_mode::empty);
    }
    EXPECT_EQ(done, 2);
}

TEST_P(LoopPost, ACancelledEntryGetsOnCancelOnTheLoopsThread) {
    eddy::loop* seen = nullptr;
    job work({}, [&] { seen = eddy::loop::current(); });
    loop().post(work);
    loop().cancel(work);
    EXPECT_EQ(work.cancels, 0);
    EXPECT_TRUE(work.posted());
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(work.runs, 0);
    EXPECT_EQ(work.cancels, 1);
    EXPECT_EQ(seen, &loop());
}

TEST_P(LoopPost, CancellingTwiceOrWhenIdleDoesNothing) {
    job work;
    loop().cancel(work);
    loop().post(work);
    loop().cancel(work);
    loop().cancel(work);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    loop().cancel(work);
    EXPECT_EQ(loop().run(run_mode::empty), 0U);
    EXPECT_EQ(work.cancels, 1);
    loop().post(work);
    loop().run(run_mode::empty);
    EXPECT_EQ(work.runs, 1);
}

TEST_P(LoopPost, ACallbackCancelsAnEntryOfTheSameBatch) {
    job victim;
    job killer([&] { loop().cancel(victim); });
    loop().post(killer);
    loop().post(victim);
    loop().run(run_mode::empty);
    EXPECT_EQ(victim.runs, 0);
    EXPECT_EQ(victim.cancels, 1);
}

TEST_P(LoopPost, AnEntryCannotCancelTheRunThatIsGoingOn) {
    job* self = nullptr;
    job work([&] { loop().cancel(*self); });
    self = &work;
    loop().post(work);
    loop().run(run_mode::empty);
    EXPECT_EQ(work.runs, 1);
    EXPECT_EQ(work.cancels, 0);
}

TEST_P(LoopPost, EitherCallbackMayBeNull) {
    entry nothing;
    entry only_cancel(nullptr, [](entry&) noexcept {});
    entry only_run([](entry&) noexcept {});
    for (entry* e : {&nothing, &only_cancel, &only_run}) {
        loop().post(*e);
        EXPECT_EQ(loop().run(run_mode::empty), 1U);
        loop().post(*e);
        loop().cancel(*e);
        EXPECT_EQ(loop().run(run_mode::empty), 1U);
        EXPECT_FALSE(e->posted());
    }
}

struct typed_job {
    int before = 1;
    entry node;
    int runs = 0;
    int cancels = 0;
    void on_run() { ++runs; }
    void on_cancel() { ++cancels; }
    static void by_pointer(typed_job* self) { self->runs += 10; }
    static void by_reference(typed_job& self) { self.cancels += 10; }
};

TEST_P(LoopPost, TheTypedFormCallsMemberFunctions) {
    typed_job work;
    loop().post<typed_job, &typed_job::node, &typed_job::on_run, &typed_job::on_cancel>(work);
    loop().run(run_mode::empty);
    EXPECT_EQ(work.runs, 1);
    loop().post<typed_job, &typed_job::node, &typed_job::on_run, &typed_job::on_cancel>(work);
    loop().cancel(work.node);
    loop().run(run_mode::empty);
    EXPECT_EQ(work.runs, 1);
    EXPECT_EQ(work.cancels, 1);
}

TEST_P(LoopPost, TheTypedFormCallsFunctionsOfAPointerOrAReference) {
    typed_job work;
    const auto post_it = [&] {
        loop().post<typed_job, &typed_job::node, &typed_job::by_pointer, &typed_job::by_reference>(
            work);
    };
    post_it();
    loop().run(run_mode::empty);
    post_it();
    loop().cancel(work.node);
    loop().run(run_mode::empty);
    EXPECT_EQ(work.runs, 10);
    EXPECT_EQ(work.cancels, 10);
}

TEST_P(LoopPost, TheTypedFormNeedsNoOnCancel) {
    typed_job work;
    loop().post<typed_job, &typed_job::node, &typed_job::on_run>(work);
    loop().cancel(work.node);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
    EXPECT_EQ(work.runs, 0);
}

TEST_P(LoopPost, ACallableThatCanOnlyBeMovedIsCalledOnceAndDestroyed) {
    auto token = std::make_shared<int>(0);
    loop().post([held = std::make_unique<std::shared_ptr<int>>(token)] { ++**held; });
    EXPECT_EQ(token.use_count(), 2);
    loop().run(run_mode::empty);
    EXPECT_EQ(*token, 1);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(LoopPost, ACallableIsCopiedWhereItIsNotMoved) {
    int calls = 0;
    const auto callable = [&calls] { ++calls; };
    loop().post(callable);
    loop().post(callable);
    loop().run(run_mode::empty);
    EXPECT_EQ(calls, 2);
}

TEST_P(LoopPost, ACallableIsOnlyDestroyedWhenTheLoopDies) {
    auto token = std::make_shared<int>(0);
    loop().post([token] { ++*token; });
    end_loop();
    EXPECT_EQ(*token, 0);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(LoopPost, ANextEntryRunsAfterTheNextLookAtTheKernel) {
    // The pipe is ready already; the loop learns of it by the look that the entry waits for.
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    recorder waiting;
    std::vector<const char*> order;
    waiting.then([&](recorder&) { order.push_back("io"); });
    start(waiting, wait(from, interest::readable));
    loop().poll();
    job next([&] { order.push_back("next"); });
    job plain([&] { order.push_back("plain"); });
    job first([&] {
        write_all(writer.get(), "x");
        loop().post_next(next);
        loop().post(plain);
    });
    loop().post(first);
    until([&] { return order.size() == 3; });
    EXPECT_EQ(order, (std::vector<const char*>{"plain", "io", "next"}));
}

TEST_P(LoopPost, ANextEntryDoesNotRunInTheSameTurn) {
    job next;
    std::uint64_t posted_in = 0;
    job first([&] {
        posted_in = loop().counters().turns;
        loop().post_next(next);
    });
    loop().post(first);
    loop().poll();
    EXPECT_EQ(next.runs, 0);
    loop().poll();
    EXPECT_EQ(next.runs, 1);
    EXPECT_EQ(loop().counters().turns, posted_in + 1);
}

TEST_P(LoopPost, ANextEntryDoesNotWaitForSomethingElse) {
    alarm far(loop());
    job next;
    loop().post_after(1h, far);
    loop().post_next(next);
    EXPECT_EQ(loop().run_one(), 1U);
    EXPECT_EQ(next.runs, 1);
    loop().disarm(far);
}

TEST_P(LoopPost, ANextEntryCanBeCancelled) {
    job next;
    loop().post_next(next);
    loop().cancel(next);
    loop().run(run_mode::empty);
    EXPECT_EQ(next.cancels, 1);
}

TEST_P(LoopPost, PostingCancellingAndRunningAllocateNothing) {
    entry run([](entry&) noexcept {}, [](entry&) noexcept {});
    entry next([](entry&) noexcept {});
    loop().poll();
    const auto before = allocations();
    for (int i = 0; i != 100; ++i) {
        loop().post(run);
        loop().post_next(next);
        if (i % 2 == 0) {
            loop().cancel(run);
        }
        loop().run(run_mode::empty);
    }
    EXPECT_EQ(allocations(), before);
}

TEST_P(LoopPost, ARepostingEntryStarvesNeitherTimersNorIo) {
    auto [reader, writer] = make_pipe();
    descriptor from = attach(std::move(reader));
    std::string buffer(8, '\0');
    recorder reading;
    alarm ring(loop());
    job* self = nullptr;
    job again([&] { loop().post(*self); });
    self = &again;
    job* next_self = nullptr;
    job next_again([&] { loop().post_next(*next_self); });
    next_self = &next_again;
    start(reading, read(from, bytes(buffer)));
    loop().post(again);
    loop().post_next(next_again);
    loop().post_after(1ms, ring);
    write_all(writer.get(), "x");
    EXPECT_TRUE(until([&] { return ring.runs == 1 && reading.ended(); }));
    loop().cancel(again);
    loop().cancel(next_again);
    until([&] { return again.cancels + next_again.cancels == 2; });
}

TEST_P(LoopPost, ALoopThatAlwaysHasSomethingToRunHearsOfOtherThreads) {
    job* self = nullptr;
    job again([&] { loop().post(*self); });
    self = &again;
    std::atomic<bool> seen = false;
    job from_outside([&] { seen = true; });
    loop().post(again);
    std::thread other([&] {
        loop().post(from_outside);
        while (!seen) {
            std::this_thread::yield();
        }
        loop().stop();
    });
    loop().run();
    other.join();
    EXPECT_EQ(from_outside.runs, 1);
    EXPECT_TRUE(again.posted());
    loop().cancel(again);
    EXPECT_EQ(loop().run(run_mode::empty), 1U);
}

TEST_P(LoopPost, WhatACallbackTakesBackIsNotRunAlthoughItIsNext) {
    std::vector<int> order;
    std::vector<std::unique_ptr<job>> jobs;
    job first([&] {
        for (const std::size_t gone : {0U, 1U, 4U}) {  // the next two and the last
            EXPECT_TRUE(loop().disarm(*jobs[gone]));
            jobs[gone].reset();
        }
    });
    job begin([&] {
        loop().post(first);
        for (int i = 0; i != 5; ++i) {
            jobs.push_back(std::make_unique<job>([&order, i] { order.push_back(i); }));
            loop().post(*jobs.back());
        }
    });
    loop().post(begin);
    EXPECT_EQ(loop().run(run_mode::empty), 4U);
    EXPECT_EQ(order, (std::vector{2, 3}));
    EXPECT_TRUE(loop().empty());
}

TEST_P(LoopPost, EachOfTheThreeCountsOfEntriesIsTrueInsideACallback) {
    job second;
    job third;
    job first([&] {
        const loop_counters counted = loop().counters();
        EXPECT_EQ(counted.posts, 2U);
        EXPECT_EQ(counted.completions, 1U);
        EXPECT_FALSE(loop().empty());
        EXPECT_TRUE(loop().disarm(second));
        EXPECT_TRUE(loop().empty());
        loop().post(third);
        EXPECT_FALSE(loop().empty());
        EXPECT_EQ(loop().counters().posts, 3U);
    });
    loop().post(first);
    loop().post(second);
    EXPECT_EQ(loop().run(run_mode::empty), 2U);
    EXPECT_EQ(loop().counters().completions, 2U);
}

/// The inbox is a stack, which the loop reverses: pushes that race with that must neither lose an
/// entry nor change the order in which one thread has posted.
TEST_P(LoopPost, EntriesFromManyThreadsRunOnceEachAndInTheOrderOfEachThread) {
    constexpr unsigned threads = 4;
    constexpr unsigned each = 2000;
    struct numbered : entry {
        unsigned thread = 0;
        unsigned number = 0;
        std::vector<unsigned>* next = nullptr;
    };
    std::vector<unsigned> next(threads, 0);
    std::vector<numbered> entries(threads * each);
    std::vector<std::thread> posters;
    unsigned run = 0;
    for (unsigned t = 0; t != threads; ++t) {
        for (unsigned i = 0; i != each; ++i) {
            numbered& e = entries[t * each + i];
            e.thread = t;
            e.number = i;
            e.next = &next;
            e.set_callbacks([](entry& node) noexcept {
                auto& self = static_cast<numbered&>(node);
                EXPECT_EQ((*self.next)[self.thread]++, self.number);
            });
        }
        posters.emplace_back([&, t] {
            for (unsigned i = 0; i != each; ++i) {
                loop().post(entries[t * each + i]);
            }
        });
    }
    alarm watchdog(loop(), [&] { ADD_FAILURE() << "entries were lost"; });
    loop().post_after(20s, watchdog);
    while (run < threads * each && watchdog.runs == 0) {
        run += static_cast<unsigned>(loop().run_some());
    }
    for (auto& thread : posters) {
        thread.join();
    }
    EXPECT_EQ(run, threads * each);
    EXPECT_EQ(next, std::vector<unsigned>(threads, each));
    loop().disarm(watchdog);
}

/// A cancellation may come before, while or after the loop takes its entry. The owner frees the
/// entry in its callback, so a second one would be a use after free.
TEST_P(LoopPost, PostsAndCancelsFromManyThreadsGiveOneCallbackEach) {
    const random_numbers random;
    constexpr unsigned threads = 3;
    constexpr unsigned each = 2000;
    struct counted : entry {
        std::atomic<int> ended{0};
    };
    std::vector<counted> entries(threads * each);
    std::atomic<unsigned> ended = 0;
    static std::atomic<unsigned>* total = nullptr;
    total = &ended;
    for (counted& e : entries) {
        const entry::callback end = [](entry& node) noexcept {
            static_cast<counted&>(node).ended.fetch_add(1);
            total->fetch_add(1);
        };
        e.set_callbacks(end, end);
    }
    std::vector<std::thread> posters;
    for (unsigned t = 0; t != threads; ++t) {
        posters.emplace_back([&, t] {
            auto numbers = random.for_thread(t);
            for (unsigned i = 0; i != each; ++i) {
                counted& e = entries[t * each + i];
                loop().post(e);
                switch (numbers() % 4) {
                    case 0:
                        loop().cancel(e);
                        break;
                    case 1:
                        std::this_thread::yield();
                        loop().cancel(e);
                        break;
                    default:
                        break;
                }
            }
        });
    }
    EXPECT_TRUE(until([&] { return ended == threads * each; }));
    for (auto& thread : posters) {
        thread.join();
    }
    for (const counted& e : entries) {
        EXPECT_EQ(e.ended, 1);
    }
}

TEST_P(LoopPost, ASleepingLoopIsWokenByEveryFirstPost) {
    // Ping-pong: each post finds the other side asleep or falling asleep; none may be lost.
    constexpr int rounds = 2000;
    eddy::loop other({.engine = GetParam()});
    int left = rounds;
    std::optional<job> ping;
    std::optional<job> pong;
    ping.emplace([&] { other.post(*pong); });
    pong.emplace([&] {
        if (--left == 0) {
            loop().stop();
            other.stop();
        } else {
            loop().post(*ping);
        }
    });
    std::thread thread([&] { other.run(); });
    loop().post(*ping);
    loop().run();
    thread.join();
    EXPECT_EQ(left, 0);
}

struct throws_something {
    void operator()() const { throw std::runtime_error("the kettle is empty"); }
};

TEST_P(LoopPost, ACallableThatThrowsIdentifiesItselfBeforeItEndsTheProgram) {
    const auto throwing = [&] {
        eddy::loop home({.engine = GetParam()});
        home.post(throws_something());
        home.poll();
    };
    EXPECT_EXIT(throwing(), ::testing::KilledBySignal(SIGABRT),
                "a callable given to post\\(\\) threw, which ends the program: the kettle is "
                "empty; the callable is .*throws_something");
    const auto throws_a_number = [&] {
        eddy::loop home({.engine = GetParam()});
        home.post([] { throw 7; });
        home.poll();
    };
    EXPECT_EXIT(throws_a_number(), ::testing::KilledBySignal(SIGABRT),
                "threw something that is no std::exception.*lambda");
    const auto after_a_flood = [&] {
        for (int i = 0; i < 1000; ++i) {
            eddy::report("flood");
        }
        throwing();
    };
    EXPECT_EXIT(after_a_flood(), ::testing::KilledBySignal(SIGABRT), "the kettle is empty");
}

}  // namespace
}  // namespace eddy::test::post_test
