// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/env.hpp>

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

template <class T>
inline constexpr bool is_await_suspend_result = std::is_void_v<T> || std::is_same_v<T, bool>;
template <class Promise>
inline constexpr bool is_await_suspend_result<std::coroutine_handle<Promise>> = true;

template <class T, class Promise>
concept awaiter = requires(T& object, std::coroutine_handle<Promise> handle) {
    object.await_ready() ? 1 : 0;
    requires is_await_suspend_result<decltype(object.await_suspend(handle))>;
    object.await_resume();
};

template <class T>
constexpr decltype(auto) awaiter_of(T&& object) {
    if constexpr (requires { static_cast<T&&>(object).operator co_await(); }) {
        return static_cast<T&&>(object).operator co_await();
    } else if constexpr (requires { operator co_await(static_cast<T&&>(object)); }) {
        return operator co_await(static_cast<T&&>(object));
    } else {
        return static_cast<T&&>(object);
    }
}

/// The object to which co_await in a coroutine with this promise applies operator co_await.
template <class T, class Promise>
constexpr decltype(auto) transformed(T&& object, Promise& promise) {
    if constexpr (requires { promise.await_transform(static_cast<T&&>(object)); }) {
        return promise.await_transform(static_cast<T&&>(object));
    } else {
        return static_cast<T&&>(object);
    }
}

template <class T, class Promise>
concept awaitable = requires(T&& object, Promise& promise) {
    {
        detail::awaiter_of(detail::transformed(static_cast<T&&>(object), promise))
    } -> awaiter<Promise>;
};

template <class T>
constexpr T& as_lvalue(T&& object) noexcept {
    return static_cast<T&>(object);
}

template <class T, class Promise>
using await_result_t = decltype(detail::as_lvalue(detail::awaiter_of(detail::transformed(
                                                      std::declval<T>(), std::declval<Promise&>())))
                                    .await_resume());

template <class T, class Promise>
concept has_as_awaitable =
    requires(T&& object, Promise& promise) { static_cast<T&&>(object).as_awaitable(promise); };

/// Stands for a promise of which nothing is known.
struct bare_promise {};

/// Stands for the promise of the coroutine that would await an awaitable connected as a sender.
template <class Env>
struct plain_promise {
    std::coroutine_handle<plain_promise> get_return_object() noexcept;
    std::suspend_always initial_suspend() noexcept;
    std::suspend_always final_suspend() noexcept;
    void unhandled_exception() noexcept;
    void return_void() noexcept;
    std::coroutine_handle<> unhandled_stopped() noexcept;

    template <class T>
    T&& await_transform(T&& object) noexcept {
        return static_cast<T&&>(object);
    }
    template <class T>
        requires has_as_awaitable<T, plain_promise>
    auto await_transform(T&& object) -> decltype(static_cast<T&&>(object).as_awaitable(*this)) {
        return static_cast<T&&>(object).as_awaitable(*this);
    }
    const Env& get_env() const noexcept;
};

}  // namespace detail
}  // namespace eddy::ex
