// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/ahead_wait.hpp>
#include <eddy/async/detail/await/io_wait.hpp>
#include <eddy/async/detail/await/sender_wait.hpp>
#include <eddy/async/detail/task/frame_check.hpp>
#include <eddy/async/detail/task/outcome.hpp>
#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/base/assert.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/awaitable.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/operation_state.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>
#include <eddy/io/detail/sender/stop_source_for.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

template <class T>
class task;

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

template <class T>
class task_promise;
template <class T>
class task_promise_of;
template <class Task>
struct task_values;
template <class T>
class task_wait_for_task;
template <class T, class Receiver>
class task_state;
template <class Make>
class made_task;

/// Gives this room, and no other, access to the inside of a task.
struct task_access {
    template <class T>
    static task_promise<T>& promise(const task<T>& of) noexcept;
    template <class T>
    static void start(const task<T>& of) noexcept {
        of.frame_.resume();
    }
    /// Starts the task and gives it up: its owner must destroy it.
    template <class T>
    static void let_go(task<T>&& of) noexcept {
        std::exchange(of.frame_, nullptr).resume();
    }
    template <class T>
    static void destroy(task_promise<T>& gone) noexcept {
        std::coroutine_handle<task_promise<T>>::from_promise(gone).destroy();
    }
};

/// Base of types that tasks can await although they are not senders. Their
/// `wait(task_promise_base&, std::coroutine_handle<>) &&` makes the awaiter.
struct awaited_by_tasks {};

/// The common part of the promises of task<T> and task<void>.
template <class T>
class task_promise_of : public task_promise_base {
public:
    using task_promise_base::task_promise_base;

    task<T> get_return_object() noexcept;
    void unhandled_exception() noexcept { result_.set_error(std::current_exception()); }
    outcome<T>& result() noexcept { return result_; }

    template <class Awaited>
    auto await_transform(task<Awaited>&& child) noexcept {
        return task_wait_for_task<Awaited>(std::move(child), *this, self());
    }
    /// Makes the child task here, with the allocator of this task.
    template <class Make>
    auto await_transform(made_task<Make>&& child) {
        return await_transform(std::move(child).make(this->get_allocator()));
    }
    template <class Convert, class Request>
    auto await_transform(io_sender<Convert, Request>&& sender) noexcept {
        using awaited = io_sender<Convert, Request>;
        if constexpr (requires { Convert::waits_in_frame; }) {
            return sender_wait<awaited>(std::move(sender), *this, self());
        } else {
            return io_wait<awaited, task_promise<T>>(sender);
        }
    }
    template <class Source, class Convert>
    auto await_transform(next_ahead<Source, Convert>&& sender) noexcept {
        return ahead_wait<Source, Convert, task_promise<T>>(sender);
    }
    template <class Sender>
        requires requires { typename std::remove_cvref_t<Sender>::sender_concept; }
    auto await_transform(Sender&& sender) {
        if constexpr (connectable_in<Sender, task_env>) {
            return sender_wait<Sender>(static_cast<Sender&&>(sender), *this, self());
        } else {
            explain_in<task_env>(static_cast<Sender&&>(sender));
            return std::suspend_never();
        }
    }
    template <std::derived_from<awaited_by_tasks> Awaited>
    auto await_transform(Awaited&& awaited) noexcept {
        return std::forward<Awaited>(awaited).wait(*this, self());
    }
    /// Awaits an awaitable that is not a sender as it is. It may resume the task on any thread.
    template <class Awaitable>
    decltype(auto) await_transform(Awaitable&& awaitable) noexcept {
        using awaiter = decltype(ex::detail::awaiter_of(static_cast<Awaitable&&>(awaitable)));
        if constexpr (ex::detail::awaiter<awaiter, task_promise<T>>) {
            return static_cast<Awaitable&&>(awaitable);
        } else {
            static_assert(ex::detail::never<Awaitable>,
                          "co_await: this is neither a sender nor an awaitable");
            return std::suspend_never();
        }
    }

protected:
    std::coroutine_handle<> self() noexcept;
    outcome<T> result_;
};

template <class T>
class task_promise final : public task_promise_of<T> {
public:
    using task_promise_of<T>::task_promise_of;
    /// The default argument allows `co_return {...};`.
    template <class Value = T>
        requires std::constructible_from<T, Value>
    void return_value(Value&& value) {
        this->result_.set_value(static_cast<Value&&>(value));
    }
};
template <>
class task_promise<void> final : public task_promise_of<void> {
public:
    using task_promise_of<void>::task_promise_of;
    void return_void() noexcept { result_.set_value(); }
};

template <class T>
std::coroutine_handle<> task_promise_of<T>::self() noexcept {
    return std::coroutine_handle<task_promise<T>>::from_promise(
        static_cast<task_promise<T>&>(*this));
}

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// A coroutine that stays on one loop: the one on whose thread it was started. A sender that it
/// awaits may complete on any thread; the task continues on its own loop, without a hop if the
/// sender completed there. A task starts when it is awaited, or when it is started as a sender
/// (loop.run(), spawn(), a nursery). A task that is never started does nothing.
///
///     eddy::task<> echo(eddy::tcp::socket peer) {
///         std::array<std::byte, 4096> buffer;
///         while (auto count = co_await peer.read_some(buffer)) {
///             co_await peer.write(std::span(buffer).first(count));
///         }
///     }
///
/// co_await returns the value or throws the error: a std::error_code as std::system_error. If the
/// awaited sender is stopped, the task completes stopped too, and only its destructors still run. A
/// stop request to the task is passed on to the sender that it awaits.
///
/// The frame comes from the memory resource in arguments `std::allocator_arg, resource` (see also
/// allocator_resource), or else from operator new. A pending I/O operation lives in a block that
/// comes from operator new, and that its thread keeps for the next wait. Nothing else is allocated.
///
/// Lifetime: the loop must outlive the task. Destroying a suspended task on its loop's thread first
/// takes back what it waits for: the kernel never writes into the frame afterwards.
template <class T = void>
class [[nodiscard]] task {
public:
    using sender_concept = ex::sender_tag;
    using promise_type = detail::task_promise<T>;

    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            destroy();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    ~task() { destroy(); }

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<detail::value_signature_t<T>,
                                         ex::set_error_t(std::exception_ptr),
                                         ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return detail::task_state<T, Receiver>(std::move(*this), std::move(receiver));
    }
    /// Returns this task: a task continues on the loop that it was started on.
    task affine() && noexcept { return std::move(*this); }

private:
    friend detail::task_access;
    friend detail::task_promise_of<T>;
    using handle = std::coroutine_handle<promise_type>;

    explicit task(handle frame) noexcept : frame_(frame) {}
    void destroy() noexcept {
        if (frame_) {
            std::exchange(frame_, nullptr).destroy();
        }
    }

    handle frame_;
};

EDDY_EX_END

}  // namespace eddy

namespace eddy::detail {

EDDY_EX_BEGIN

template <class T>
task_promise<T>& task_access::promise(const task<T>& of) noexcept {
    EDDY_ASSERT(of.frame_, "a task was used that was moved from");
    return of.frame_.promise();
}

template <class T>
[[gnu::always_inline]] inline task<T> task_promise_of<T>::get_return_object() noexcept {
    const auto frame = task<T>::handle::from_promise(static_cast<task_promise<T>&>(*this));
    check_frame(frame.address());
    return task<T>(frame);
}

template <class T>
struct task_values<task<T>> {
    using type = std::tuple<T>;
};
template <>
struct task_values<task<void>> {
    using type = std::tuple<>;
};
/// The values that a task completes with, as a std::tuple.
template <class Task>
using task_values_t = typename task_values<Task>::type;

/// The awaiter of a child task, which runs on the same loop and under the same stop token as its
/// parent.
template <class T>
class task_wait_for_task final : private task_owner {
public:
    task_wait_for_task(task<T>&& child, task_promise_base& promise,
                       std::coroutine_handle<> waiting) noexcept
        : wait_(promise, waiting), child_(std::move(child)) {}
    task_wait_for_task(const task_wait_for_task&) = delete;
    task_wait_for_task& operator=(const task_wait_for_task&) = delete;

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
        settle_as(waiting.promise().owner());
        task_access::promise(child_).adopt(*this);
        task_access::start(child_);
        if (wait_.suspend()) {
            return true;
        }
        if (!wait_.stopped()) {
            return false;
        }
        wait_.resume();
        return true;
    }
    T await_resume() { return task_access::promise(child_).result().take(); }

private:
    void task_ended(task_promise_base&, bool stopped) noexcept override { wait_.arrived(stopped); }

    task_wait wait_;
    task<T> child_;
};

/// The operation state of a task that is used as a sender.
template <class T, class Receiver>
class task_state final : private task_owner {
public:
    using operation_state_concept = ex::operation_state_tag;

    task_state(task<T>&& run, Receiver receiver) noexcept
        : receiver_(std::move(receiver)), task_(std::move(run)) {}
    task_state(const task_state&) = delete;
    task_state& operator=(const task_state&) = delete;

    void start() & noexcept {
        settle(loop::current(), stop_.arm(receiver_, *this));
        task_access::promise(task_).adopt(*this);
        task_access::start(task_);
    }

private:
    using stop_source = stop_source_for<Receiver, task_state>;
    friend stop_source;

    void task_ended(task_promise_base&, bool stopped) noexcept override {
        stopped_ = stopped;
        if (stop_.disarm()) {
            finish();
        }
    }
    void finish() noexcept {
        if (stopped_) {
            ex::set_stopped(std::move(receiver_));
            return;
        }
        auto& result = task_access::promise(task_).result();
        if (auto error = result.error()) {
            ex::set_error(std::move(receiver_), std::move(error));
        } else if constexpr (std::is_void_v<T>) {
            ex::set_value(std::move(receiver_));
        } else {
            ex::set_value(std::move(receiver_), std::move(result.value()));
        }
    }

    Receiver receiver_;
    [[no_unique_address]] stop_source stop_;
    bool stopped_ = false;
    task<T> task_;
};

EDDY_EX_END

}  // namespace eddy::detail
