// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/sender_wait.hpp>
#include <eddy/async/detail/await/spare_room.hpp>
#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/detail/member.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/loop/loop.hpp>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace eddy::detail {

template <class Source>
class ahead_queue;

EDDY_EX_BEGIN

template <class Source, class Convert>
class next_ahead;

/// The awaiter of the next item of an `incoming`. On the queue's loop, a task that only this loop
/// can stop joins the queue's waiters. Any other task waits as for any sender, in a block outside
/// its frame.
///
///     nothing --own--> starting --result, or stopped--> done, stopped
///                      starting --nothing is there--> suspended --result--> done, resumed
///     nothing --else--> general
///
/// Joining needs no stop callback. A queue has waiters only while its operation is pending, or
/// while it reports an end and is about to start the operation again. A loop that ends, ends all
/// operations.
///
/// Thread: that of the task.
template <class Source, class Convert, class Promise>
class ahead_wait {
    using sender = next_ahead<Source, Convert>;
    using handle = std::coroutine_handle<Promise>;
    using value = awaited_t<sender>;
    using general_wait = sender_wait<sender>;
    using waiter = typename ahead_queue<Source>::waiter;

public:
    /// Lifetime: `awaited` must live in the frame as long as this awaiter.
    explicit ahead_wait(sender& awaited) noexcept : sender_(awaited), waiter_(&on_result) {}
    ahead_wait(const ahead_wait&) = delete;
    ahead_wait& operator=(const ahead_wait&) = delete;
    ~ahead_wait() {
        if (state_ == state::suspended || state_ == state::general) [[unlikely]] {
            leave();
        }
    }

    static bool await_ready() noexcept { return false; }
    bool await_suspend(handle waiting) {
        Promise& promise = waiting.promise();
        if (!is_own(promise)) [[unlikely]] {
            return start_general(promise, waiting);
        }
        waiting_ = waiting;
        if (sender_.queue_->wait_for_next(waiter_)) [[likely]] {
            state_ = state::suspended;
            return true;
        }
        return start(promise);
    }
    value await_resume() {
        if (state_ == state::general) {
            return general_->await_resume();
        }
        return outcome_.take();
    }

private:
    enum class state : std::uint8_t { nothing, starting, suspended, done, stopped, general };
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        ahead_wait* wait;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            wait->outcome_.set_value(static_cast<Values&&>(values)...);
        }
        template <class Error>
        EDDY_COLD void set_error(Error&& error) noexcept {
            wait->outcome_.set_error(to_exception(static_cast<Error&&>(error)));
        }
    };

    bool is_own(const Promise& promise) const noexcept {
        const loop* const home = sender_.home_;
        return promise.stops_with_home() && home == promise.home() && home == loop::current();
    }

    [[gnu::noinline]] bool start(Promise& promise) noexcept {
        if (promise.stop_token().stop_requested()) {
            promise.end_stopped();
            return true;
        }
        state_ = state::starting;
        sender_.queue_->take(waiter_);
        if (state_ == state::starting) {
            state_ = state::suspended;
            return true;
        }
        if (state_ == state::done) {
            return false;
        }
        promise.end_stopped();  // this may be gone
        return true;
    }
    EDDY_COLD bool start_general(Promise& promise, handle waiting) {
        general_ = new (take_large_room<general_wait>())
            general_wait(std::move(sender_), promise, waiting);
        state_ = state::general;
        return general_->await_suspend(waiting);
    }

    /// Leaves the queue because the task is destroyed, or gives back the block outside the frame.
    EDDY_COLD void leave() noexcept {
        if (state_ == state::suspended) {
            sender_.queue_->remove(waiter_);
        } else {
            std::destroy_at(general_);
            give_large_room_back<general_wait>(general_);
        }
    }

    static bool on_result(waiter& w, typename Source::item item, io_result result,
                          bool loop_ends) noexcept {
        auto& self = owner_of<&ahead_wait::waiter_>(w);
        if (!result) [[unlikely]] {
            self.ended_without(result, loop_ends);
            return true;
        }
        auto& convert = self.sender_.convert_;
        if constexpr (requires { convert.admit(std::move(item)); }) {
            if (!convert.admit(std::move(item))) [[unlikely]] {
                return false;
            }
            convert(result, receiver{&self});
        } else {
            convert(std::move(item), receiver{&self});
        }
        self.arrived();
        return true;
    }
    void arrived() noexcept {
        if (std::exchange(state_, state::done) != state::starting) {
            waiting_.resume();
        }
    }
    EDDY_COLD void ended_without(io_result result, bool loop_ends) noexcept {
        if (!loop_ends) {
            receiver{this}.set_error(result.error());
            arrived();
        } else if (std::exchange(state_, state::stopped) != state::starting) {
            waiting_.promise().end_stopped();
        }
    }

    sender& sender_;
    union {
        waiter waiter_;
        general_wait* general_;
    };
    handle waiting_;
    outcome<value> outcome_;
    state state_ = state::nothing;
};

EDDY_EX_END

}  // namespace eddy::detail
