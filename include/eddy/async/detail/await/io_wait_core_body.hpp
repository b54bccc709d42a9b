// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/io_wait_core.hpp>
#include <eddy/async/detail/await/sender_wait.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/io/detail/sender/completion.hpp>
#include <eddy/io/io_sender.hpp>

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A Convert that delivers its value to an io_wait.
struct into_frame {
    using signature = ex::set_value_t();

    std::error_code prepare(io_request& request) noexcept {
        return calls->prepare != nullptr ? calls->prepare(wait, request) : std::error_code();
    }
    bool again(io_result result, io_request& request) noexcept {
        return calls->again != nullptr && calls->again(wait, result, request);
    }
    bool has_part() const noexcept { return calls->has_part != nullptr && calls->has_part(wait); }
    error_subject subject() noexcept {
        return calls->subject != nullptr ? calls->subject(wait) : error_subject();
    }
    template <class Receiver>
    void operator()(io_result result, Receiver&& receiver, loop& home,
                    const io_operation& op) noexcept {
        calls->deliver(wait, result, home, op);
        ex::set_value(std::forward<Receiver>(receiver));
    }

    void* wait;
    const io_wait_calls* calls;
};
using general_io_wait = sender_wait<io_sender<into_frame>>;
static_assert(sizeof(task_io) <= room_sizes[0] && sizeof(general_io_wait) <= room_sizes[1]);

EDDY_EX_INLINE bool io_wait_core::prepare(task_io& op) const noexcept {
    const std::error_code error = calls.prepare(op.wait, op.mutable_request());
    if (!error) {
        return true;
    }
    fail(op.wait, error);
    give_back(op);
    return false;
}

EDDY_EX_INLINE void io_wait_core::go_on(task_io& op, io_result result) const noexcept {
    const bool inside_start = state == io_wait_state::starting;
    if (promise.stop_token().stop_requested()) {
        calls.deliver(op.wait, result, *promise.home(), op);
        arrived(op, inside_start);
    } else if (op.lost_descriptor()) {  // its handle was closed in between
        fail(op.wait, std::make_error_code(std::errc::operation_canceled));
        arrived(op, inside_start);
    } else {
        const io_request request = op.request();
        promise.home()->start(op, request);
    }
}

EDDY_EX_INLINE void io_wait_core::ended_without(task_io& op, io_result result) const noexcept {
    const bool inside_start = state == io_wait_state::starting;
    if (op.takes_lease()) {
        static_cast<void>(op.take_lease());
    }
    if (!op.was_canceled()) {
        fail(op.wait, result.error());
    } else if (calls.has_part != nullptr && calls.has_part(op.wait)) {
        calls.deliver(op.wait, result, *promise.home(), op);
    } else {
        state = io_wait_state::stopped;
    }
    arrived(op, inside_start);
}

EDDY_EX_INLINE void io_wait_core::fail(void* wait, const std::error_code& error) const noexcept {
    calls.fail(wait, calls.subject != nullptr ? system_error_of(error, calls.subject(wait))
                                              : bare_system_error_of(error));
}

EDDY_EX_INLINE void io_wait_core::arrived(task_io& op, bool inside_start) const noexcept {
    give_back(op);
    if (inside_start) {
        return;
    }
    if (state == io_wait_state::stopped) {
        promise.end_stopped();
    } else {
        waiting.resume();
    }
}

EDDY_EX_INLINE bool io_wait_core::start_general(void* wait, loop* home,
                                                const io_request& request) const {
    auto* const made = new (take_room(room::large))
        general_io_wait(io_sender<into_frame>(home, request, {wait, &calls}), promise, waiting);
    room = made;
    state = io_wait_state::general;
    return made->await_suspend(waiting);
}

EDDY_EX_INLINE void io_wait_core::resume_general(void* room) {
    static_cast<general_io_wait*>(room)->await_resume();
}

EDDY_EX_INLINE void io_wait_core::leave_general(void* room) noexcept {
    std::destroy_at(static_cast<general_io_wait*>(room));
    give_room_back(room::large, room);
}

EDDY_EX_INLINE void io_wait_core::leave(loop& home, task_io& op) noexcept {
    if (op.pending()) {
        home.abandon(op);
    }
    give_back(op);
}

EDDY_EX_END

}  // namespace eddy::detail
