// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/made_task.hpp>
#include <eddy/async/task.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A task that awaits any sender and drops its values.
template <class Sender>
task<> await_it(std::allocator_arg_t, frame_allocator, Sender sender) {
    co_await std::move(sender);
}

/// A callable without arguments that returns a task or another sender.
template <class Callable>
concept sender_callable = requires(std::decay_t<Callable>& callable) {
    { callable() } -> ex::sender;
};

/// A task that awaits the sender that `callable` returns. Its frame keeps `callable` until the end,
/// and with it the captures of a lambda that is a coroutine.
template <class Callable>
task<> call_it(std::allocator_arg_t, frame_allocator, Callable callable) {
    co_await callable();
}

/// A task that passes the exceptions of `shielded_one` to `on_error`, which may throw itself.
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
