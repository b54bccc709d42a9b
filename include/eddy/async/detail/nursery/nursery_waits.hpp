// SPDX-License-Identifier: Apache-2.0

// Awaiters for the task of a nursery. Senders could do the same, but would take ten times as long
// to compile, in every program that has a nursery.
#pragma once

#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/async/event.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/loop/loop.hpp>

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// Returns the stop token of the task that awaits it.
class own_stop_token {
public:
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
        token_ = waiting.promise().stop_token();
        return false;
    }
    ex::inplace_stop_token await_resume() const noexcept { return token_; }

private:
    ex::inplace_stop_token token_;
};

/// Ends the task that awaits it as stopped.
struct end_stopped_here {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> waiting) const noexcept {
        waiting.promise().end_stopped();
    }
    static void await_resume() noexcept {}
};

/// The awaiter of a task that runs under a stop token of its own.
template <class T>
class task_wait_with_token final : private task_owner {
public:
    using values = task_values_t<task<T>>;

    task_wait_with_token(task<T>&& child, ex::inplace_stop_token stop, task_promise_base& promise,
                         std::coroutine_handle<> waiting) noexcept
        : task_owner(loop::current(), stop), wait_(promise, waiting), child_(std::move(child)) {}
    task_wait_with_token(const task_wait_with_token&) = delete;
    task_wait_with_token& operator=(const task_wait_with_token&) = delete;

    static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) noexcept {
        task_access::promise(child_).adopt(*this);
        task_access::start(child_);
        return wait_.suspend();
    }
    std::optional<values> await_resume() {
        if (stopped_) {
            return std::nullopt;
        }
        auto& result = task_access::promise(child_).result();
        if constexpr (std::is_void_v<T>) {
            result.take();
            return values();
        } else {
            return values(result.take());
        }
    }

private:
    void task_ended(task_promise_base&, bool stopped) noexcept override {
        stopped_ = stopped;
        wait_.arrived(false);
    }

    task_wait wait_;
    bool stopped_ = false;
    task<T> child_;
};
/// Returns the value of `child` in a tuple, or nothing if it was stopped.
template <class T>
class with_token : public awaited_by_tasks {
public:
    with_token(task<T>&& child, ex::inplace_stop_token stop) noexcept
        : child_(std::move(child)), stop_(stop) {}
    auto wait(task_promise_base& promise, std::coroutine_handle<> waiting) && noexcept {
        return task_wait_with_token<T>(std::move(child_), stop_, promise, waiting);
    }

private:
    task<T> child_;
    ex::inplace_stop_token stop_;
};

class unstoppable_wait {
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        unstoppable_wait* wait;

        void set_value() noexcept { wait->wait_.arrived(false); }
        void set_stopped() noexcept {}
    };

public:
    EDDY_API unstoppable_wait(wait_sender<event_wait>&& sender, task_promise_base& promise,
                              std::coroutine_handle<> waiting) noexcept;
    EDDY_API ~unstoppable_wait();
    unstoppable_wait(const unstoppable_wait&) = delete;
    unstoppable_wait& operator=(const unstoppable_wait&) = delete;

    static bool await_ready() noexcept { return false; }
    EDDY_API bool await_suspend(std::coroutine_handle<> waiting) noexcept;
    static void await_resume() noexcept {}

private:
    task_wait wait_;
    wait_operation<event_wait, receiver> operation_;
};
/// Waits for an event, and continues to wait when the task is asked to stop.
class unstoppable : public awaited_by_tasks {
public:
    explicit unstoppable(wait_sender<event_wait> sender) noexcept : sender_(std::move(sender)) {}
    auto wait(task_promise_base& promise, std::coroutine_handle<> waiting) && noexcept {
        return unstoppable_wait(std::move(sender_), promise, waiting);
    }

private:
    wait_sender<event_wait> sender_;
};

EDDY_EX_END

}  // namespace eddy::detail

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/nursery/nursery_waits_body.hpp>
#endif
