// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/made_task.hpp>
#include <eddy/async/task.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A task of any sender, whose values are dropped.
template <class Sender>
task<> await_it(std::allocator_arg_t, frame_allocator, Sender sender) {
    co_await std::move(sender);
}

/// A callable without arguments that returns a task or another sender.
template <class Callable>
concept sender_callable = requires(std::decay_t<Callable>& callable) {
    { callable() } -> ex::sender;
};

/// A task of what `callable` returns. The frame keeps `callable` until the end, and with it
/// everything that a lambda that is a coroutine has captured.
template <class Callable>
task<> call_it(std::allocator_arg_t, frame_allocator, Callable callable) {
    co_await callable();
}

/// A task whose exceptions go to `on_error`. What that throws is thrown by the whole.
template <class OnError>
task<> shielded(std::allocator_arg_t, frame_allocator, task<> shielded_one, OnError on_error) {
    try {
        co_await std::move(shielded_one);
    } catch (...) {
        on_error(std::current_exception());
    }
}

EDDY_EX_END

}  // namespace eddy::detail
