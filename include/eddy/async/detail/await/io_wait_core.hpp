// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/spare_room.hpp>
#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/loop/detail/own_io.hpp>
#include <eddy/loop/loop.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>

namespace eddy::detail {

EDDY_EX_BEGIN

/// The operation of a task on its own loop, if only this loop can stop the task.
struct task_io : own_io {
    task_io(callback on_complete, const io_request& request, lease_is how, void* awaiter) noexcept
        : own_io(on_complete, request, how), wait(awaiter) {}

    void* wait;
};

inline void give_back(task_io& op) noexcept {
    std::destroy_at(&op);
    give_room_back(room::small, &op);
}

/// The functions of an io_wait that depend on its types; `wait` is the io_wait. A function is null
/// if the Convert has no such step.
struct io_wait_calls {
    std::error_code (*prepare)(void* wait, io_request& request) noexcept;
    bool (*again)(void* wait, io_result result, io_request& request) noexcept;
    bool (*has_part)(void* wait) noexcept;
    void (*deliver)(void* wait, io_result result, loop& home, const io_operation& op) noexcept;
    void (*fail)(void* wait, std::exception_ptr error) noexcept;
    error_subject (*subject)(void* wait) noexcept;
};

/// The progress of an io_wait. With a task_io, the task, its loop and the I/O are on this thread,
/// and only the end of the loop can stop them. Otherwise the wait is general, as for other senders.
///
///     nothing --own_io::transfer_now()--> done, failed
///     nothing --task_io--> starting --result, or stopped--> done, failed, stopped
///                          starting --would block--> suspended --result--> done, failed, resumed
///     nothing --else--> general --result--> general_done, general_failed
///     done --await_resume()--> used_up
enum class io_wait_state : std::uint8_t {
    nothing,
    used_up,
    starting,
    suspended,
    stopped,
    done,
    failed,
    general,
    general_done,
    general_failed,
};
constexpr bool is_general(io_wait_state state) noexcept { return state >= io_wait_state::general; }
constexpr bool has_value(io_wait_state state) noexcept {
    return state == io_wait_state::done || state == io_wait_state::general_done;
}
constexpr bool has_error(io_wait_state state) noexcept {
    return state == io_wait_state::failed || state == io_wait_state::general_failed;
}

/// A view of an io_wait without its types, for the time of a call: rare paths are compiled once.
///
/// Thread: that of the task.
struct io_wait_core {
    void*& room;
    io_wait_state& state;
    task_promise_base& promise;
    std::coroutine_handle<> waiting;
    const io_wait_calls& calls;

    // With a task_io.

    /// Takes back the pending operation of a task that is destroyed.
    EDDY_API static void leave(loop& home, task_io& op) noexcept;

    /// Lets the Convert prepare the request. Returns false if that failed, which ends the wait.
    EDDY_API bool prepare(task_io& op) const noexcept;
    /// Starts the operation again for the rest of the request, unless a stop or close came in
    /// between. Afterwards the task may be gone.
    EDDY_API void go_on(task_io& op, io_result result) const noexcept;
    /// Ends the wait for a stopped or failed operation. Afterwards the task may be gone.
    EDDY_API void ended_without(task_io& op, io_result result) const noexcept;

    // Without a task_io: general waits.

    /// Starts the wait and returns the result of its await_suspend(). Throws std::bad_alloc.
    EDDY_API bool start_general(void* wait, loop* home, const io_request& request) const;
    /// Throws the error of the wait, if it has failed.
    EDDY_API static void resume_general(void* room);
    EDDY_API static void leave_general(void* room) noexcept;

private:
    void fail(void* wait, const std::error_code& error) const noexcept;
    void arrived(task_io& op, bool inside_start) const noexcept;
};

EDDY_EX_END

}  // namespace eddy::detail

#if !EDDY_EX_BUILTIN
#include <eddy/async/detail/await/io_wait_core_body.hpp>
#endif
