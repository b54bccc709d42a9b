// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/as_awaitable.hpp>

#include <coroutine>
#include <exception>
#include <type_traits>

namespace eddy::ex {

/// Base of a promise whose coroutine can await senders. Another coroutine can await this one, and
/// gets its stop.
template <class Promise>
class with_awaitable_senders {
public:
    template <class Other>
        requires(!std::is_void_v<Other>)
    void set_continuation(std::coroutine_handle<Other> awaiting) noexcept {
        continuation_ = awaiting;
        if constexpr (detail::bears_stop<Other>) {
            stop_ = [](void* address) noexcept -> std::coroutine_handle<> {
                return std::coroutine_handle<Other>::from_address(address)
                    .promise()
                    .unhandled_stopped();
            };
        } else {
            stop_ = nullptr;
        }
    }
    std::coroutine_handle<> continuation() const noexcept { return continuation_; }

    std::coroutine_handle<> unhandled_stopped() noexcept {
        if (stop_ == nullptr) std::terminate();
        return stop_(continuation_.address());
    }

    template <class T>
    decltype(auto) await_transform(T&& object) {
        static_assert(std::is_base_of_v<with_awaitable_senders, Promise>,
                      "with_awaitable_senders: its argument is the promise that derives from it");
        return as_awaitable(static_cast<T&&>(object), static_cast<Promise&>(*this));
    }

private:
    std::coroutine_handle<> continuation_;
    std::coroutine_handle<> (*stop_)(void*) noexcept = nullptr;
};

/// promise.continuation() as a plain handle. Not in the draft: the return type of that member
/// differs between the vocabularies.
template <class Promise>
std::coroutine_handle<> continuation_handle(
    const with_awaitable_senders<Promise>& promise) noexcept {
    return promise.continuation();
}

}  // namespace eddy::ex

#endif
