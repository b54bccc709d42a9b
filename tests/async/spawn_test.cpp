// SPDX-License-Identifier: Apache-2.0
#include "async/task_fixture.hpp"
#include "loop/allocations.hpp"
#include "support/counting_resource.hpp"
#include "support/heard_reports.hpp"
#include "support/in_child.hpp"

#include <eddy/async/async_mutex.hpp>
#include <eddy/async/channel.hpp>
#include <eddy/async/event.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/rate_limiter.hpp>
#include <eddy/async/semaphore.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/io/io_sender.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace eddy::test::spawn_test {
namespace {

class Spawn : public TaskTest {};
EDDY_ON_EVERY_ENGINE(Spawn);

task<> note(int& number, int value) {
    number = value;
    co_return;
}
task<> fails(const char* why) {
    co_await ex::just();
    throw std::runtime_error(why);
}

TEST_P(Spawn, StartsATaskInTheBackgroundNotInsideTheCall) {
    int number = 0;
    loop().post([&] {
        spawn(loop(), note(number, 1));
        EXPECT_EQ(number, 0);
    });
    settle();
    EXPECT_EQ(number, 1);
}

TEST_P(Spawn, StartsASenderAndDropsItsValues) {
    int number = 0;
    spawn(loop(), ex::then(ex::just(5), [&](int value) {
              number = value;
              return value;
          }));
    settle();
    EXPECT_EQ(number, 5);
}

/// Says when it is gone. Its last copy counts.
class witness {
public:
    explicit witness(bool& gone) : gone_(&gone, [](bool* flag) { *flag = true; }) {}
    bool is_gone() const { return *gone_; }

private:
    std::shared_ptr<bool> gone_;
};

TEST_P(Spawn, KeepsACallableAndItsCapturesAsLongAsItsTask) {
    bool gone = false;
    int number = 0;
    event ready;
    loop().post([&] {
        spawn(loop(), [&, kept = witness(gone), value = std::make_unique<int>(5)]() -> task<> {
            co_await ready.wait();
            EXPECT_FALSE(kept.is_gone());
            number = *value;
        });
        EXPECT_EQ(number, 0);
    });
    settle();
    EXPECT_FALSE(gone);
    ready.set();
    settle();
    EXPECT_EQ(number, 5);
    EXPECT_TRUE(gone);
}

TEST_P(Spawn, CallsACallableOnTheLoopAndTakesWhateverSenderItReturns) {
    std::thread::id where;
    int number = 0;
    std::thread([&] {
        spawn(loop(), [&] {
            where = std::this_thread::get_id();
            return ex::then(ex::just(5), [&](int value) { number = value; });
        });
    }).join();
    settle();
    EXPECT_EQ(where, std::this_thread::get_id());
    EXPECT_EQ(number, 5);
}

TEST_P(Spawn, TellsTheHandlerWhatACallableThrowsWhetherItIsACoroutineOrNot) {
    std::string seen;
    const auto on_error = [&](const std::exception_ptr& exception) noexcept {
        try {
            std::rethrow_exception(exception);
        } catch (const std::exception& error) {
            seen += error.what();
        }
    };
    spawn(loop(), []() -> task<> { return throw std::runtime_error("one,"), fails(""); }, on_error);
    spawn(loop(), []() -> task<> { co_await fails("two"); }, on_error);
    settle();
    EXPECT_EQ(seen, "one,two");
}

TEST_P(Spawn, DestroysACallableWhoseTaskEndsWithTheLoop) {
    bool gone = false;
    spawn(loop(), [kept = witness(gone)]() -> task<> {
        const at_exit exit([&kept] { EXPECT_FALSE(kept.is_gone()); });
        event never_set;
        co_await never_set.wait();
    });
    settle();
    EXPECT_FALSE(gone);
    end_loop();
    EXPECT_TRUE(gone);
    gone = false;
    spawn(loop(), [kept = witness(gone)]() -> task<> { co_return; });
    end_loop();
    EXPECT_TRUE(gone) << "one that never began";
}

TEST_P(Spawn, ANurseryKeepsACallableAsLongAsItsChild) {
    bool gone = false;
    event ready;
    const auto block = [&](nursery& children) -> task<> {
        children.start([&, kept = witness(gone)]() -> task<> {
            co_await ready.wait();
            EXPECT_FALSE(kept.is_gone());
        });
        EXPECT_FALSE(gone);
        ready.set();
        co_await children.join();
        EXPECT_TRUE(gone);
    };
    EXPECT_TRUE(loop().run(with_nursery(block)).has_value());
}

TEST_P(Spawn, MayBeUsedByAnotherThread) {
    constexpr int each = 200;
    std::atomic<int> ended = 0;
    const auto body = [&]() -> task<> {
        EXPECT_EQ(eddy::loop::current(), &loop());
        co_await loop().get_scheduler().schedule();
        ++ended;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                spawn(loop(), body());
            }
        });
    }
    EXPECT_TRUE(until_driven([&] { return ended == 3 * each; }));
    for (std::thread& t : threads) {
        t.join();
    }
}

TEST_P(Spawn, TellsItsHandlerOfWhatIsThrownOnTheLoop) {
    std::string seen;
    const auto on_error = [&](const std::exception_ptr& exception) noexcept {
        EXPECT_EQ(eddy::loop::current(), &loop());
        try {
            std::rethrow_exception(exception);
        } catch (const std::exception& error) {
            seen += error.what();
        }
    };
    spawn(loop(), fails("one,"), on_error);
    spawn(loop(), ex::just_error(std::make_exception_ptr(std::runtime_error("two"))), on_error);
    spawn(loop(), ex::just_stopped(), on_error);
    settle();
    EXPECT_EQ(seen, "one,two");
}

TEST_P(Spawn, WithoutAHandlerReportsALine) {
    const heard_reports heard;
    spawn(loop(), fails("the reason"));
    spawn(loop(), ex::then(ex::just(), [] { throw 7; }));
    settle();
    EXPECT_EQ(heard.lines(), (std::vector<std::string>{
                                 "a task ended with an exception: the reason",
                                 "a task ended with an exception that is no std::exception"}));
}

TEST_P(Spawn, WhatItsHandlerThrowsIsReportedToo) {
    int called = 0;
    const auto on_error = [&](const std::exception_ptr&) {
        ++called;
        throw std::runtime_error("the handler");
    };
    const heard_reports heard;
    spawn(loop(), fails("the reason"), on_error);
    settle();
    EXPECT_EQ(heard.lines(),
              std::vector<std::string>{"a task ended with an exception: the handler"});
    EXPECT_EQ(called, 1);
    EXPECT_TRUE(loop().empty());
}

TEST_P(Spawn, EndsWithTheLoopWhateverItWaitsFor) {
    int left = 0;
    const auto count = [&] { return at_exit([&] { ++left; }); };
    const auto never_begun = [&]() -> task<> {
        const at_exit exit = count();
        co_return;
    };
    const auto waits = [&]() -> task<> {
        const at_exit exit = count();
        co_await loop().get_scheduler().schedule_after(1h);
        ADD_FAILURE() << "it must not go on";
    };
    spawn(loop(), waits());
    settle();
    spawn(loop(), waits());
    spawn(loop(), never_begun());
    end_loop();
    EXPECT_GE(left, 1);
    EXPECT_LE(left, 3) << "a task that never began has nothing to leave";
}

TEST_P(Spawn, EndsWithTheLoopWhileItWaitsForWhatTheLoopDoesNotKnow) {
    event ready;
    semaphore permits(0);
    async_mutex mutex;
    channel<int> numbers(0);
    auto locked = mutex.try_lock();
    int left = 0;
    const auto waits = [&](auto sender) -> task<> {
        const at_exit exit([&] { ++left; });
        static_cast<void>(co_await std::move(sender));
        ADD_FAILURE() << "it must not go on";
    };
    const auto waits_in_a_nursery = [&]() -> task<> {
        co_await with_nursery([&](nursery& children) -> task<> {
            children.start(waits(ready.wait()));
            co_await children.join();
        });
    };
    spawn(loop(), waits(ready.wait()));
    spawn(loop(), waits(permits.acquire()));
    spawn(loop(), waits(mutex.lock()));
    spawn(loop(), waits(numbers.send(1)));
    spawn(loop(), waits(when_any(ready.wait(), permits.acquire())));
    spawn(loop(), waits(timeout(ready.wait(), 1h)));
    spawn(loop(), waits_in_a_nursery());
    settle();
    end_loop();
    EXPECT_EQ(left, 7);
    ready.set();
    permits.release();
    EXPECT_EQ(permits.available(), 1U);
    EXPECT_FALSE(numbers.try_receive());
}

TEST_P(Spawn, EndsWithTheLoopBehindOneOfAnotherLoopInTheLineOfARateLimiter) {
    rate_limiter limiter({.tokens = 1, .per = 1h, .burst = 1});
    EXPECT_TRUE(limiter.try_acquire());
    eddy::loop other({.engine = GetParam()});
    int left = 0;
    const auto waits = [&]() -> task<> {
        const at_exit exit([&] { ++left; });
        co_await limiter.acquire();
    };
    spawn(other, waits());
    other.poll();
    spawn(loop(), waits());
    settle();
    end_loop();
    EXPECT_EQ(left, 1);
}

task<> with_memory(std::allocator_arg_t, std::pmr::memory_resource*, loop_scheduler home) {
    co_await home.schedule();
}

TEST_P(Spawn, TakesTheMemoryOfItsTask) {
    counting_resource memory;
    spawn(loop(), with_memory(std::allocator_arg, &memory, loop().get_scheduler()));
    EXPECT_EQ(memory.taken(), 2U) << "the frame and one small object";
    settle();
    EXPECT_EQ(memory.taken(), 2U);
    EXPECT_EQ(memory.in_use(), 0U);
}

/// Completes at once, and tells of an allocator.
struct with_attributes {
    using sender_concept = ex::sender_tag;
    using allocator = std::pmr::polymorphic_allocator<std::byte>;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return ex::connect(ex::just(), std::move(receiver));
    }
    auto get_env() const noexcept { return ex::prop(ex::get_allocator, allocator(memory)); }

    std::pmr::memory_resource* memory;
};

TEST_P(Spawn, TakesTheMemoryThatASenderTellsOf) {
    counting_resource memory;
    spawn(loop(), with_attributes{&memory});
    EXPECT_EQ(memory.taken(), 2U) << "the frame and one small object";
    settle();
    EXPECT_EQ(memory.in_use(), 0U);
}

task<> waits_with_memory(std::allocator_arg_t, std::pmr::memory_resource*, event& ready) {
    co_await ready.wait();
}

TEST_P(Spawn, KeepsNothingButTheFrameUnlessTheHandlerKeepsSomething) {
    counting_resource memory;
    event ready;
    int failed = 0;
    spawn(loop(), waits_with_memory(std::allocator_arg, &memory, ready));
    settle();
    EXPECT_EQ(memory.in_use(), 1U);
    spawn(loop(), waits_with_memory(std::allocator_arg, &memory, ready),
          [&](const std::exception_ptr&) noexcept { ++failed; });
    settle();
    EXPECT_EQ(memory.in_use(), 3U);
    ready.set();
    settle();
    EXPECT_EQ(memory.in_use(), 0U);
    EXPECT_EQ(failed, 0);
}

/// A handler that keeps nothing itself.
template <int Number>
struct counts_calls {
    static inline int calls = 0;
    void operator()(const std::exception_ptr&) const {
        if (++calls == 2) {
            throw std::runtime_error("twice");
        }
    }
};

TEST_P(Spawn, TellsTheRightOneOfSeveralHandlersThatKeepNothing) {
    counts_calls<1>::calls = counts_calls<2>::calls = 0;
    const heard_reports heard;
    for (int i = 0; i != 2; ++i) {
        spawn(loop(), fails("the reason"), counts_calls<1>());
    }
    spawn(loop(), fails("the reason"), counts_calls<2>());
    settle();
    EXPECT_EQ(heard.lines(), std::vector<std::string>{"a task ended with an exception: twice"});
    EXPECT_EQ(counts_calls<1>::calls, 2);
    EXPECT_EQ(counts_calls<2>::calls, 1);
    EXPECT_TRUE(loop().empty());
}

TEST_P(Spawn, ThrowsIfThereIsNoMemoryAndLeavesNothing) {
    counting_resource memory(1);
    EXPECT_THROW(spawn(loop(), with_memory(std::allocator_arg, &memory, loop().get_scheduler())),
                 std::bad_alloc);
    EXPECT_EQ(memory.in_use(), 0U);
    settle();
    EXPECT_TRUE(loop().empty());
}

/// A handler that can be moved so often.
struct moved_rarely {
    explicit moved_rarely(int times) noexcept : left(times) {}
    moved_rarely(moved_rarely&& other) : left(other.left - 1) {
        if (left < 0) {
            throw std::runtime_error("moved too often");
        }
    }
    void operator()(const std::exception_ptr&) const noexcept {}

    int left;
};

TEST_P(Spawn, ThrowsWhatMovingItsHandlerThrowsAndLeavesNothing) {
    int thrown = 0;
    for (int times = 0; times != 8; ++times) {
        counting_resource memory;
        try {
            spawn(loop(), with_memory(std::allocator_arg, &memory, loop().get_scheduler()),
                  moved_rarely(times));
        } catch (const std::runtime_error&) {
            ++thrown;
            EXPECT_EQ(memory.in_use(), 0U);
            EXPECT_TRUE(loop().empty());
        }
        settle();
        EXPECT_EQ(memory.in_use(), 0U);
    }
    EXPECT_GT(thrown, 0);
    EXPECT_LT(thrown, 8);
}

TEST_P(Spawn, LeavesNothingInAForkedChildThatLetsGoOfTheLoop) {
    const auto releases_in_child = [&](bool one_was_spawned) {
        auto ran = std::make_unique<eddy::loop>(loop_options{.engine = GetParam()});
        int number = 0;
        if (one_was_spawned) {
            spawn(*ran, note(number, 1));
        }
        ran->poll();
        EXPECT_EQ(number, one_was_spawned ? 1 : 0);
        return in_child([&] {
            const std::uint64_t before = releases();
            ran.reset();
            return static_cast<int>(releases() - before);
        });
    };
    EXPECT_EQ(releases_in_child(true), releases_in_child(false) + 2)
        << "what the tasks of a loop have in common, and those with one handler";
}

}  // namespace
}  // namespace eddy::test::spawn_test
