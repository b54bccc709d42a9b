// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/detail/error_to_exception.hpp>
#include <eddy/ex/detail/single_value.hpp>

#include <atomic>
#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

struct no_value {};

/// The state of one co_await. The operation writes the result, and the resumed coroutine reads it.
///
///     starting  --await_suspend returns-->  suspended  --the operation completes-->  (it resumes)
///     starting  --the operation completes-->  completed  (await_suspend does not suspend)
///
/// A completion inside start() therefore resumes nothing, and a loop of them does not grow the
/// stack.
template <class Value>
class await_state {
public:
    using stored = std::conditional_t<std::is_void_v<Value>, no_value, Value>;

    template <class... Values>
    void store(Values&&... values) noexcept {
        if constexpr (std::is_nothrow_constructible_v<stored, Values...>) {
            result_.template emplace<stored>(static_cast<Values&&>(values)...);
        } else {
            try {
                result_.template emplace<stored>(static_cast<Values&&>(values)...);
            } catch (...) {
                result_.template emplace<std::exception_ptr>(std::current_exception());
            }
        }
    }
    template <class Error>
    void store_error(Error&& error) noexcept {
        result_.template emplace<std::exception_ptr>(
            detail::error_to_exception(static_cast<Error&&>(error)));
    }

    /// Marks the result as stored. True if the coroutine is suspended: the caller must resume it.
    [[nodiscard]] bool complete() noexcept {
        // acq_rel: the coroutine sees the result; this call sees the suspended coroutine.
        return progress_.exchange(progress::completed, std::memory_order_acq_rel) ==
               progress::suspended;
    }
    /// Marks the coroutine as suspended. False if the operation has completed already. After true,
    /// another thread may have resumed the coroutine.
    [[nodiscard]] bool suspend() noexcept {
        // acquire: pairs with complete().
        if (progress_.load(std::memory_order_acquire) == progress::completed) return false;
        return progress_.exchange(progress::suspended, std::memory_order_acq_rel) !=
               progress::completed;
    }

    bool stopped() const noexcept { return result_.empty(); }

    Value take() {
        if (result_.template holds<std::exception_ptr>()) {
            std::rethrow_exception(std::move(result_.template get<std::exception_ptr>()));
        }
        if constexpr (!std::is_void_v<Value>) return std::move(result_.template get<stored>());
    }

private:
    enum class progress : unsigned char { starting, suspended, completed };
    choice<stored, std::exception_ptr> result_;
    std::atomic<progress> progress_{progress::starting};
};

template <class Promise, class Value>
struct await_receiver {
    using receiver_concept = receiver_tag;
    await_state<Value>* state;
    std::coroutine_handle<Promise> waiting;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        state->store(static_cast<Values&&>(values)...);
        if (state->complete()) waiting.resume();
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        state->store_error(static_cast<Error&&>(error));
        if (state->complete()) waiting.resume();
    }
    void set_stopped() noexcept {
        if (state->complete()) {
            std::coroutine_handle<>(waiting.promise().unhandled_stopped()).resume();
        }
    }
    decltype(auto) get_env() const noexcept { return ex::get_env(waiting.promise()); }
};

template <class Sender, class Promise>
using awaited_value_t = only_value_t<signatures_or_mistake<Sender, env_of_t<Promise&>>>;

/// The awaitable made from a sender. Lives, with its operation, in the awaiting coroutine's frame.
template <class Sender, class Promise>
class sender_awaitable {
    using value = awaited_value_t<Sender, Promise>;
    using receiver = await_receiver<Promise, value>;

public:
    sender_awaitable(Sender&& sender, Promise& promise) noexcept(connects_nothrow<Sender, receiver>)
        : promise_(promise),
          operation_(connect_unchecked(
              static_cast<Sender&&>(sender),
              receiver{&state_, std::coroutine_handle<Promise>::from_promise(promise)})) {}
    sender_awaitable(sender_awaitable&&) = delete;

    static constexpr bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<Promise>) noexcept {
        operation_.start();
        if (state_.suspend()) return true;
        if (!state_.stopped()) return false;
        // The coroutine never continues, and this call may destroy it.
        std::coroutine_handle<>(promise_.unhandled_stopped()).resume();
        return true;
    }
    value await_resume() { return state_.take(); }

private:
    Promise& promise_;
    await_state<value> state_;
    operation_of<Sender, receiver> operation_;
};

template <class Promise>
concept bears_stop = requires(Promise& promise) {
    { promise.unhandled_stopped() } -> std::convertible_to<std::coroutine_handle<>>;
};

template <class Sender, class Promise>
inline constexpr bool has_one_value =
    count_of<signatures_or_mistake<Sender, env_of_t<Promise&>>, set_value_t> <= 1;

}  // namespace detail

/// Makes the awaitable that co_await uses for `object` in a coroutine with this promise. A sender
/// becomes an awaitable whose result is the sender's value. The sender's error is thrown; its stop
/// ends the coroutine by unhandled_stopped().
struct as_awaitable_t {
    template <class T, class Promise>
    constexpr decltype(auto) operator()(T&& object, Promise& promise) const {
        if constexpr (detail::has_as_awaitable<T, Promise>) {
            return static_cast<T&&>(object).as_awaitable(promise);
        } else if constexpr (detail::awaitable<T, detail::bare_promise>) {
            return static_cast<T&&>(object);
        } else if constexpr (sender<T>) {
            if constexpr (!sender_in<T, env_of_t<Promise&>>) {
                detail::explain_sender<T, env_of_t<Promise&>>();
            } else {
                static_assert(detail::has_one_value<T, Promise>,
                              "co_await: the sender must complete with at most one set of values");
                static_assert(detail::bears_stop<Promise>,
                              "co_await: the coroutine's promise has no unhandled_stopped()");
                return detail::sender_awaitable<T, Promise>(static_cast<T&&>(object), promise);
            }
        } else {
            return static_cast<T&&>(object);
        }
    }
};
inline constexpr as_awaitable_t as_awaitable{};

}  // namespace eddy::ex

#endif
