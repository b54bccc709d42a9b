// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/awaitable.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/operation_state.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class Receiver>
struct awaiting_promise;

/// An awaitable connected to a receiver: a coroutine that awaits it and completes the receiver. The
/// coroutine frame is the only allocation made when an awaitable is connected.
template <class Receiver>
class [[nodiscard]] awaiting_operation {
public:
    using operation_state_concept = operation_state_tag;
    using promise_type = awaiting_promise<Receiver>;

    explicit awaiting_operation(std::coroutine_handle<promise_type> frame) noexcept
        : frame_(frame) {}
    awaiting_operation(awaiting_operation&& other) = delete;
    ~awaiting_operation() { frame_.destroy(); }

    void start() & noexcept { frame_.resume(); }

private:
    std::coroutine_handle<promise_type> frame_;
};

template <class Receiver>
struct awaiting_promise {
    /// Takes the coroutine's parameters: the awaitable and the receiver.
    explicit awaiting_promise(auto&, Receiver& receiver) noexcept : receiver_(receiver) {}

    awaiting_operation<Receiver> get_return_object() noexcept {
        return awaiting_operation<Receiver>(
            std::coroutine_handle<awaiting_promise>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    /// Never reached. The coroutine ends suspended, so that the receiver may destroy its frame.
    [[noreturn]] std::suspend_always final_suspend() noexcept { std::terminate(); }
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
    [[noreturn]] void return_void() noexcept { std::terminate(); }

    std::coroutine_handle<> unhandled_stopped() noexcept {
        set_stopped(static_cast<Receiver&&>(receiver_));
        return std::noop_coroutine();
    }

    template <class T>
    T&& await_transform(T&& object) noexcept {
        return static_cast<T&&>(object);
    }
    template <class T>
        requires has_as_awaitable<T, awaiting_promise>
    auto await_transform(T&& object) -> decltype(static_cast<T&&>(object).as_awaitable(*this)) {
        return static_cast<T&&>(object).as_awaitable(*this);
    }

    decltype(auto) get_env() const noexcept { return ex::get_env(receiver_); }

    Receiver& receiver_;
};

/// Suspends for good and calls `function`, which completes the receiver. The receiver may destroy
/// the frame that holds this object, so a copy of `function` is called.
template <class Function>
struct suspend_and_call {
    Function function;
    static constexpr bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept {
        auto call = static_cast<Function&&>(function);
        call();
    }
    [[noreturn]] void await_resume() noexcept { std::terminate(); }
};
template <class Function>
suspend_and_call(Function) -> suspend_and_call<Function>;

template <class Awaitable, class Receiver>
awaiting_operation<Receiver> connect_awaitable(Awaitable object, Receiver receiver) {
    std::exception_ptr error;
    try {
        using result = await_result_t<Awaitable, awaiting_promise<Receiver>>;
        if constexpr (std::is_void_v<result>) {
            co_await static_cast<Awaitable&&>(object);
            co_await suspend_and_call{
                [&]() noexcept { set_value(static_cast<Receiver&&>(receiver)); }};
        } else {
            auto&& value = co_await static_cast<Awaitable&&>(object);
            co_await suspend_and_call{[&]() noexcept {
                set_value(static_cast<Receiver&&>(receiver), static_cast<result&&>(value));
            }};
        }
    } catch (...) {
        error = std::current_exception();
    }
    co_await suspend_and_call{[&]() noexcept {
        set_error(static_cast<Receiver&&>(receiver), static_cast<std::exception_ptr&&>(error));
    }};
}

}  // namespace detail
}  // namespace eddy::ex
