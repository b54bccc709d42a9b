#pragma once

#include <eddy/async/detail/task_promise.hpp>
#include <eddy/base/config.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/completion.hpp>

#include <concepts>
#include <coroutine>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
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
/// What co_await gives: the value, nothing, or a std::tuple of several.
template <class Sender>
using awaited_t = typename awaited<values_of_t<Sender, task_env>>::type;

/// A sender that a task awaits, in the frame of the task. Its operation is in the room of the task,
/// of which all that it awaits make use in turn, or in the frame too if it is too large.
template <class Sender>
class sender_wait {
    using result = outcome<awaited_t<Sender>>;
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
    /// For what needs no operation.
    struct at_once {
        using receiver_concept = ex::receiver_tag;
        result* outcome;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            outcome->set_value(static_cast<Values&&>(values)...);
        }
        template <class Error>
        EDDY_COLD void set_error(Error&& error) noexcept {
            outcome->set_error(to_exception(static_cast<Error&&>(error)));
        }
    };
    using operation = ex::connect_result_t<Sender, receiver>;

public:
    sender_wait(Sender&& sender, task_promise_base& promise,
                std::coroutine_handle<> waiting) noexcept
        : wait_(promise, waiting), sender_(static_cast<Sender&&>(sender)) {}
    sender_wait(const sender_wait&) = delete;
    sender_wait& operator=(const sender_wait&) = delete;
    ~sender_wait() { end_operation(); }

    /// The room is used from here on until await_resume(), while the task does nothing else.
    [[gnu::always_inline]] bool await_ready() {
        if constexpr (goes_at_once) {
            if (!wait_.promise().stop_token().stop_requested() &&
                sender_.send_now(at_once{&outcome_})) {
                return true;
            }
        }
        ::new (where()) operation(ex::connect(static_cast<Sender&&>(sender_), receiver{this}));
        has_operation_ = true;
        return false;
    }
    bool await_suspend(std::coroutine_handle<>) noexcept {
        ex::start(*where());
        if (wait_.suspend()) {
            return true;
        }
        if (!wait_.stopped()) {
            return false;
        }
        wait_.resume();  // which ends the task: this may be gone
        return true;
    }
    awaited_t<Sender> await_resume() {
        end_operation();
        return outcome_.take();
    }

private:
    /// What its owner keeps may be awaited again, and must stay as it is.
    static constexpr bool goes_at_once =
        !std::is_reference_v<Sender> && requires(Sender & sender, at_once done) {
        { sender.send_now(done) } -> std::same_as<bool>;
    };
    static constexpr bool fits = task_promise_base::has_room_for<operation>;
    struct nothing {};
    union own_room {
        own_room() noexcept {}
        ~own_room() {}
        std::conditional_t<fits, nothing, operation> operation_;
    };

    operation* where() noexcept {
        if constexpr (fits) {
            return static_cast<operation*>(wait_.promise().room());
        } else {
            return std::addressof(own_.operation_);
        }
    }
    void end_operation() noexcept {
        if (has_operation_) {
            has_operation_ = false;
            std::destroy_at(where());
        }
    }

    task_wait wait_;
    Sender&& sender_;
    result outcome_;
    bool has_operation_ = false;
    [[no_unique_address]] own_room own_;
};

EDDY_EX_END

}  // namespace eddy::detail
