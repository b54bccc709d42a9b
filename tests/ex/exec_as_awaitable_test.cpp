#include "allocations.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

namespace eddy::ex_testing::exec_as_awaitable {

/// The least that can await senders: it runs at once and keeps what it returns.
template <class T>
class eager {
public:
    struct promise_type : ex::with_awaitable_senders<promise_type> {
        eager get_return_object() noexcept {
            return eager(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void unhandled_exception() noexcept { error = std::current_exception(); }
        void return_value(T result) { value.emplace(std::move(result)); }
        std::coroutine_handle<> unhandled_stopped() noexcept {
            stopped = true;
            return std::noop_coroutine();
        }

        std::optional<T> value;
        std::exception_ptr error;
        bool stopped = false;
    };

    explicit eager(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    eager(eager&&) = delete;
    ~eager() { frame_.destroy(); }
    promise_type* operator->() const noexcept { return &frame_.promise(); }

private:
    std::coroutine_handle<promise_type> frame_;
};

eager<int> await_number() { co_return co_await ex::just(4); }
eager<int> await_nothing() {
    co_await ex::just();
    co_return 1;
}
eager<int> await_two() {
    auto [number, text] = co_await ex::just(3, std::string("abc"));
    co_return number + static_cast<int>(text.size());
}
eager<int> await_error(std::error_code code) {
    co_await ex::just_error(code);
    co_return 0;
}
eager<int> await_failing() {
    co_await (ex::just() | ex::then([] { throw std::runtime_error("no"); }));
    co_return 0;
}
eager<int> await_stop() {
    co_await ex::just_stopped();
    co_return 0;
}
eager<int> await_event(manual_event& event) { co_return co_await event.wait(); }

TEST(ExecAsAwaitable, TheResultIsTheValue) {
    EXPECT_EQ(await_number()->value, 4);
    EXPECT_EQ(await_nothing()->value, 1);
    EXPECT_EQ(await_two()->value, 6);
}

TEST(ExecAsAwaitable, AnErrorIsThrown) {
    auto coded = await_error(std::make_error_code(std::errc::timed_out));
    try {
        std::rethrow_exception(coded->error);
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::timed_out);
    }
    EXPECT_THROW(std::rethrow_exception(await_failing()->error), std::runtime_error);
}

TEST(ExecAsAwaitable, AStopEndsTheCoroutine) {
    auto stopped = await_stop();
    EXPECT_TRUE(stopped->stopped);
    EXPECT_FALSE(stopped->value);
}

TEST(ExecAsAwaitable, ACompletionLaterResumesIt) {
    manual_event event;
    auto waiting = await_event(event);
    EXPECT_FALSE(waiting->value);
    event.value(8);
    EXPECT_EQ(waiting->value, 8);

    manual_event other;
    auto stopped = await_event(other);
    other.stop();
    EXPECT_TRUE(stopped->stopped);
}

TEST(ExecAsAwaitable, ASuspendedCoroutineMayBeDestroyed) {
    manual_event event;
    { auto waiting = await_event(event); }
    SUCCEED();
}

/// How much of the stack lies between the calls of note().
class stack_use {
public:
    [[gnu::noinline]] void note() noexcept {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = std::min(lowest_, here);
        highest_ = std::max(highest_, here);
    }
    std::uintptr_t bytes() const noexcept { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = UINTPTR_MAX;
    std::uintptr_t highest_ = 0;
};

eager<int> await_often(int count, stack_use& stack) {
    const auto note = [&](int number) noexcept {
        stack.note();
        return number;
    };
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += co_await (ex::just(1) | ex::then(note));
    co_return sum;
}

// stdexec resumes by symmetric transfer, which g++ makes a call unless it optimises much.
#if EDDY_EX_BUILTIN
constexpr int often = 1'000'000;
constexpr std::uintptr_t stack_bytes_max = 4096;
#else
constexpr int often = 1'000;
constexpr std::uintptr_t stack_bytes_max = UINTPTR_MAX;
#endif

TEST(ExecAsAwaitable, AMillionReadySendersDoNotGrowTheStack) {
    stack_use stack;
    EXPECT_EQ(await_often(often, stack)->value, often);
    EXPECT_LE(stack.bytes(), stack_bytes_max);
}

eager<int> await_without_allocation() {
    const auto before = allocations();
    for (int i = 0; i < 10; ++i) co_await (ex::just(i) | ex::then([](int) {}));
    co_return static_cast<int>(allocations() - before);
}

TEST(ExecAsAwaitable, AwaitingAllocatesNothing) { EXPECT_EQ(await_without_allocation()->value, 0); }

eager<int> await_hops(decltype(std::declval<ex::run_loop&>().get_scheduler()) scheduler,
                      int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        co_await ex::schedule(scheduler);
        ++sum;
    }
    co_return sum;
}

TEST(ExecAsAwaitable, ACompletionOnAnotherThreadRacesTheSuspension) {
    ex::run_loop loop;
    std::thread thread([&] { loop.run(); });
    for (int round = 0; round < 300; ++round) {
        auto hopping = await_hops(loop.get_scheduler(), 3);
        // It goes on over there; each of these comes after one of its hops in the same queue.
        for (int hop = 0; hop < 4; ++hop) ex::sync_wait(ex::schedule(loop.get_scheduler()));
        EXPECT_EQ(hopping->value, 3);
    }
    loop.finish();
    thread.join();
}

// An awaitable is a sender.

struct ready_number {
    int number;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const { return number < 0 ? throw std::runtime_error("no") : number; }
};
static_assert(ex::sender<ready_number>);
static_assert(sends<ready_number, ex::set_value_t(int), ex::set_error_t(std::exception_ptr),
                    ex::set_stopped_t()>);

TEST(ExecConnect, AnAwaitableCanBeConnected) {
    EXPECT_EQ(run(ready_number{6}).numbers, std::vector{6});
    EXPECT_EQ(run(ready_number{-1}).channel, "error");
    EXPECT_EQ(
        std::get<0>(ex::sync_wait(ready_number{6} | ex::then([](int number) { return number + 1; }))
                        .value()),
        7);
}

// Coroutines that await each other.

template <class T>
class lazy {
public:
    struct promise_type : ex::with_awaitable_senders<promise_type> {
        lazy get_return_object() noexcept {
            return lazy(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct go_on {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(
                    std::coroutine_handle<promise_type> frame) noexcept {
                    return ex::continuation_handle(frame.promise());
                }
                void await_resume() noexcept {}
            };
            return go_on{};
        }
        void unhandled_exception() noexcept { error = std::current_exception(); }
        void return_value(T result) { value.emplace(std::move(result)); }
        std::optional<T> value;
        std::exception_ptr error;
    };

    explicit lazy(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    lazy(lazy&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    ~lazy() {
        if (frame_) frame_.destroy();
    }

    struct awaiter {
        std::coroutine_handle<promise_type> frame;
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
            frame.promise().set_continuation(waiting);
            return frame;
        }
        T await_resume() {
            if (frame.promise().error) std::rethrow_exception(frame.promise().error);
            return std::move(*frame.promise().value);
        }
    };
    auto operator co_await() && noexcept { return awaiter{frame_}; }

private:
    std::coroutine_handle<promise_type> frame_;
};

lazy<int> inner(manual_event& event) { co_return 1 + co_await event.wait(); }
lazy<int> middle(manual_event& event) { co_return 10 + co_await inner(event); }
eager<int> outer(manual_event& event) { co_return 100 + co_await middle(event); }

TEST(ExecWithAwaitableSenders, CoroutinesAwaitEachOther) {
    manual_event event;
    auto waiting = outer(event);
    event.value(1000);
    EXPECT_EQ(waiting->value, 1111);
}

TEST(ExecWithAwaitableSenders, AStopIsPassedThroughAllOfThem) {
    manual_event event;
    auto waiting = outer(event);
    event.stop();
    EXPECT_TRUE(waiting->stopped);
    EXPECT_FALSE(waiting->value);
}

TEST(ExecWithAwaitableSenders, ACoroutineIsASender) {
    manual_event event;
    outcome seen;
    auto operation = ex::connect(middle(event) | ex::then([](int number) { return number + 100; }),
                                 probe<>{&seen});
    ex::start(operation);
    event.value(1);
    EXPECT_EQ(seen.numbers, std::vector{112});

    manual_event other;
    auto stopped = ex::connect(middle(other), probe<>{&seen});
    ex::start(stopped);
    other.stop();
    EXPECT_EQ(seen.channel, "stopped");
}

}  // namespace eddy::ex_testing::exec_as_awaitable
