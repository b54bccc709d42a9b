// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace eddy::ex_testing {

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

}  // namespace eddy::ex_testing
