#pragma once

#include <eddy/async/detail/spare_room.hpp>
#include <eddy/async/detail/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/own_io.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The operation of a task that nobody but its loop can stop, on that loop.
struct task_io : own_io {
    task_io(callback on_complete, const io_request& request, lease_is how, void* awaiter,
            std::coroutine_handle<> handle) noexcept
        : own_io(on_complete, request, how), wait(awaiter), waiting(handle) {}

    void* wait;
    std::coroutine_handle<> waiting;
};

inline void give_back(task_io& op) noexcept {
    std::destroy_at(&op);
    give_room_back(room::small, &op);
}

/// What the types of an io_wait know; `wait` is that. Null: there is nothing to do, or to say.
struct io_wait_calls {
    std::error_code (*prepare)(void* wait, io_request& request) noexcept;
    bool (*again)(void* wait, io_result result, io_request& request) noexcept;
    bool (*has_part)(void* wait) noexcept;
    void (*deliver)(void* wait, io_result result, loop& home, const io_operation& op) noexcept;
    void (*fail)(void* wait, std::exception_ptr error) noexcept;
};

/// How far an io_wait is. Two ways: with a task_io, where the task, its loop and the I/O are on
/// this thread and only the end of the loop can stop them; else the same as with any other sender.
///
///     nothing --own_io::transfer_now()--> nothing, with a result
///     nothing --task_io--> starting --result, or stopped--> done, stopped
///                          starting --would block--> suspended --result--> done, resumed
///     nothing --else--> general
enum class io_wait_state : std::uint8_t { nothing, starting, suspended, done, stopped, general };

/// An io_wait without its types, for the time of a call: so what is rare is compiled once.
///
/// Thread: that of the task.
struct io_wait_core {
    loop* home;
    void*& room;
    io_wait_state& state;
    task_promise_base& promise;
    const io_wait_calls& calls;

    /// The task is destroyed: takes back what is pending.
    EDDY_API static void leave(loop* home, void* room, io_wait_state state) noexcept;

    // Of one with a task_io.

    /// Has the request made. False: that failed, and the wait is over.
    EDDY_API bool prepare(task_io& op) const noexcept;
    /// The same once more, if nothing has come between: what was asked for is not all there yet.
    /// Afterwards the task may be gone.
    EDDY_API void go_on(task_io& op, io_result result) const noexcept;
    /// It was stopped or has failed. Afterwards the task may be gone.
    EDDY_API void ended_without(task_io& op, io_result result) const noexcept;

    // Of one without.

    /// What await_suspend() returns. Throws std::bad_alloc.
    EDDY_API bool start_general(void* wait, const io_request& request,
                                std::coroutine_handle<> waiting) const;
    /// Throws what a general wait has failed with.
    EDDY_API static void resume_general(void* room);

private:
    void arrived(task_io& op, bool stopped) const noexcept;
};

EDDY_EX_END

}  // namespace eddy::detail

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/io_wait_core_body.hpp>
#endif
