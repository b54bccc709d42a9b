// SPDX-License-Identifier: Apache-2.0
// Ready senders, awaited by the least coroutine that can. Built with each vocabulary that is there.

#include <eddy/ex/execution.hpp>

#include <coroutine>
#include <exception>

#include "await/harness.hpp"

namespace {

namespace ex = eddy::ex;

struct counter {
    struct promise_type : ex::with_awaitable_senders<promise_type> {
        counter get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void unhandled_exception() noexcept { std::terminate(); }
        std::coroutine_handle<> unhandled_stopped() noexcept { std::terminate(); }
        void return_void() noexcept {}
    };

    std::coroutine_handle<promise_type> frame;
};

counter sum_of(unsigned count, std::uint64_t& sum) {
    for (unsigned i = 0; i < count; ++i) sum += co_await ex::just(std::uint64_t{1});
}

struct eddy_senders {
    static std::uint64_t await_ready_ones(unsigned count) {
        std::uint64_t sum = 0;
        sum_of(count, sum).frame.destroy();
        return sum;
    }
};

}  // namespace

int main(int argc, char** argv) { return bench::await_main<eddy_senders>(argc, argv); }
