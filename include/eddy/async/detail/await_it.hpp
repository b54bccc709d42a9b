#pragma once

#include <eddy/async/detail/made_task.hpp>
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
