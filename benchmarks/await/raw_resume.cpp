// SPDX-License-Identifier: Apache-2.0
// The least that an await can do: the coroutine suspends, and a loop resumes it.

#include <coroutine>
#include <exception>

#include "await/harness.hpp"

namespace {

struct counter {
    struct promise_type {
        counter get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void unhandled_exception() noexcept { std::terminate(); }
        void return_void() noexcept {}
    };

    std::coroutine_handle<promise_type> frame;
};

struct ready_one {
    static bool await_ready() noexcept { return false; }
    static void await_suspend(std::coroutine_handle<>) noexcept {}
    static std::uint64_t await_resume() noexcept { return 1; }
};

counter sum_of(unsigned count, std::uint64_t& sum) {
    for (unsigned i = 0; i < count; ++i) sum += co_await ready_one{};
}

struct raw_resume {
    static std::uint64_t await_ready_ones(unsigned count) {
        std::uint64_t sum = 0;
        const counter c = sum_of(count, sum);
        while (!c.frame.done()) c.frame.resume();
        c.frame.destroy();
        return sum;
    }
};

}  // namespace

int main(int argc, char** argv) { return bench::await_main<raw_resume>(argc, argv); }
