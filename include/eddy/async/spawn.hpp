// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/await_it.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/config.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>
#include <eddy/loop/entry.hpp>
#include <eddy/loop/loop.hpp>

#include <exception>
#include <memory>
#include <memory_resource>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

class background;

/// A spawned task on its way to its loop. The object owns itself.
class EDDY_API spawned_task {
public:
    /// Hands this object over to the loop. Thread: any.
    void post() noexcept;

protected:
    spawned_task(loop& home, task<>&& run) noexcept : where_(home), task_(std::move(run)) {}
    ~spawned_task() = default;
    frame_allocator memory() const noexcept { return task_access::promise(task_).get_allocator(); }

    virtual void failed(std::exception_ptr error) noexcept = 0;
    /// Deletes this object.
    virtual void drop() noexcept = 0;

    loop& where_;
    task<> task_;

private:
    /// Starts the task; this object may be gone then. Throws std::bad_alloc without starting it.
    virtual void start() = 0;

    void run() noexcept;

    entry start_{&entry_thunk<&spawned_task::start_, &spawned_task::run>,
                 &entry_thunk<&spawned_task::start_, &spawned_task::drop>};
};

/// Spawns a task whose error handler has no state. The spawned_task is gone when the task has
/// begun. Throws std::bad_alloc.
EDDY_API void spawn_with(void (*on_error)(std::exception_ptr) noexcept, loop& home, task<>&& run);

/// A spawned task with an error handler that has state, which lives until the task has ended. This
/// base class does not depend on the type of the handler.
class EDDY_API handled_task : public spawned_task, private task_owner {
protected:
    using spawned_task::spawned_task;
    ~handled_task() = default;

private:
    void start() override;
    void task_ended(task_promise_base& ended, bool stopped) noexcept override;

    background* in_ = nullptr;
};

template <class OnError>
void call_handler(OnError& on_error, std::exception_ptr error) noexcept {
    if constexpr (std::is_nothrow_invocable_v<OnError&, std::exception_ptr>) {
        on_error(std::move(error));
    } else {
        try {
            on_error(std::move(error));
        } catch (...) {
            report_exception()(std::current_exception());
        }
    }
}

template <class OnError>
class spawned final : public handled_task {
public:
    spawned(loop& home, task<>&& run,
            OnError on_error) noexcept(std::is_nothrow_move_constructible_v<OnError>)
        : handled_task(home, std::move(run)), on_error_(std::move(on_error)) {}

private:
    void failed(std::exception_ptr error) noexcept override {
        call_handler(on_error_, std::move(error));
    }
    void drop() noexcept override { delete_in(memory(), this); }

    OnError on_error_;
};

/// True if all objects of this type behave alike, so that none must be kept.
template <class OnError>
inline constexpr bool keeps_nothing =
    std::is_empty_v<OnError> && std::is_trivially_default_constructible_v<OnError> &&
    std::is_trivially_copyable_v<OnError>;

template <class OnError>
void handle_with(std::exception_ptr error) noexcept {
    OnError on_error{};
    call_handler(on_error, std::move(error));
}

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Starts a task in the background of a loop. Thread: any. An exception of the task goes to
/// `on_error`, on the loop's thread. By default it is reported (report_exception), except when the
/// task's socket or the like was closed. An exception of `on_error` is reported too. The end of the
/// loop stops whatever the task waits for. To wait for tasks, use a nursery.
///
///     eddy::spawn(loop, serve(acceptor));
///
/// Besides the frame, a spawn allocates one small object from the frame's memory resource, which is
/// freed when the task has begun if `on_error` is stateless, or else when the task has ended. The
/// first task of a loop, and the first with each stateless handler, allocates one more on the
/// loop's thread; a std::bad_alloc there goes to `on_error`. Throws std::bad_alloc.
template <class OnError = report_exception>
void spawn(loop& home, task<>&& run, OnError on_error = {}) {
    if constexpr (detail::keeps_nothing<OnError>) {
        detail::spawn_with(&detail::handle_with<OnError>, home, std::move(run));
    } else {
        const auto memory = detail::task_access::promise(run).get_allocator();
        detail::new_in<detail::spawned<OnError>>(memory, home, std::move(run), std::move(on_error))
            ->post();
    }
}

/// Starts any sender, or the task or sender that a callable returns, in the background of a loop.
/// Its values are dropped. The callable is called on the loop's thread and kept until the end, so
/// that the captures of a lambda live as long as its coroutine:
///
///     eddy::spawn(loop, [&log, name]() -> eddy::task<> {
///         co_await eddy::sleep_for(1s);
///         log.print(name);
///     });
///
/// A lambda that is called in place, `[name]() -> eddy::task<> {...}()`, is destroyed at the end of
/// the statement together with its captures, before the task has begun.
///
/// Memory comes from the allocator in the sender's attributes, or else from operator new. In all
/// other respects like spawning a task.
template <class Sender, class OnError = report_exception>
void spawn(loop& home, Sender&& sender, OnError on_error = {}) {
    if constexpr (ex::sender<Sender>) {
        const detail::frame_allocator from = detail::allocator_of(ex::get_env(sender));
        spawn(home,
              detail::await_it<std::decay_t<Sender>>(std::allocator_arg, from,
                                                     static_cast<Sender&&>(sender)),
              std::move(on_error));
    } else if constexpr (detail::sender_callable<Sender>) {
        spawn(
            home,
            detail::call_it<std::decay_t<Sender>>(
                std::allocator_arg, std::pmr::new_delete_resource(), static_cast<Sender&&>(sender)),
            std::move(on_error));
    } else {
        detail::explain_argument<Sender>();
    }
}

EDDY_EX_END

}  // namespace eddy

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/task/spawn_body.hpp>
#endif
