// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/task/outcome.hpp>
#include <eddy/async/detail/task/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/completion.hpp>

#include <coroutine>
#include <tuple>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Tuple>
struct awaited {
    using type = Tuple;
};
template <>
struct awaited<std::tuple<>> {
    using type = void;
};
template <class T>
struct awaited<std::tuple<T>> {
    using type = T;
};
/// The result of co_await: the value, void, or a std::tuple of several values.
template <class Sender>
using awaited_t = typename awaited<values_of_t<Sender, task_env>>::type;

/// The awaiter of a sender, whose operation lives in the frame of the task.
template <class Sender>
class sender_wait {
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        sender_wait* wait;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            wait->outcome_.set_value(static_cast<Values&&>(values)...);
            wait->wait_.arrived(false);
        }
        template <class Error>
        EDDY_COLD void set_error(Error&& error) noexcept {
            wait->outcome_.set_error(to_exception(static_cast<Error&&>(error)));
            wait->wait_.arrived(false);
        }
        void set_stopped() noexcept { wait->wait_.arrived(true); }
        task_env get_env() const noexcept { return wait->wait_.promise().get_env(); }
    };

public:
    sender_wait(Sender&& sender, task_promise_base& promise, std::coroutine_handle<> waiting)
        : wait_(promise, waiting),
          operation_(ex::connect(static_cast<Sender&&>(sender), receiver{this})) {}
    sender_wait(const sender_wait&) = delete;
    sender_wait& operator=(const sender_wait&) = delete;

    static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) noexcept {
        ex::start(operation_);
        if (wait_.suspend()) {
            return true;
        }
        if (!wait_.stopped()) {
            return false;
        }
        wait_.resume();  // ends the task: this may be gone
        return true;
    }
    awaited_t<Sender> await_resume() { return outcome_.take(); }

private:
    task_wait wait_;
    outcome<awaited_t<Sender>> outcome_;
    ex::connect_result_t<Sender, receiver> operation_;
};

EDDY_EX_END

}  // namespace eddy::detail
