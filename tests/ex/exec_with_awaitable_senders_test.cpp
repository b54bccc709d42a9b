// SPDX-License-Identifier: Apache-2.0
#include "eager.hpp"
#include "support.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace eddy::ex_testing::exec_with_awaitable_senders {

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

}  // namespace eddy::ex_testing::exec_with_awaitable_senders
