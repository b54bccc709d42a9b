// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"
#include "eager.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

namespace eddy::ex_testing::exec_as_awaitable {

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

}  // namespace eddy::ex_testing::exec_as_awaitable
